import type {
  OrderRedactedBody,
  RecordedEvent,
  RedactedEvent,
} from "../events/event.ts";
import type { MatchFact } from "../events/order_facts.ts";
import type { ErasableEvent } from "../store/tables/erasure/erasable_events.ts";
import {
  type OrderNames,
  redactEvent,
  type Redaction,
  type RedactOptions,
} from "./redact_event.ts";

/** How events are redacted. */
export interface RedactAllOptions
  extends Pick<RedactOptions, "part" | "randomBytes" | "isErased"> {
  /** Pseudonyms in an event's order of the people whom the event names. */
  readonly names: (event: RecordedEvent) => OrderNames;
  /** How an order compares with what was recorded; null when unknown. */
  readonly matchOf: (orderId: string) => MatchFact | null;
}

/**
 * Redacts events together: what was kept of an event before is kept of it again.
 *
 * @param events The events.
 * @param options How.
 */
export function redactEvents(
  events: readonly ErasableEvent[],
  options: RedactAllOptions,
): Redaction[] {
  const kept = new Set(
    events.flatMap(({ event }) => redactsOf(event)?.event_id ?? []),
  );
  const renamed = new Map<string, string>();
  const redacted: Redaction[] = [];
  // What was kept of events comes after them, and names them by their new ids.
  for (const { event, erased } of events) {
    const { orderId, eventId } = event;
    const redaction = redactEvent(event, erased, {
      ...options,
      names: options.names(event),
      isRetained: kept.has(eventId),
      match: orderId === null ? null : options.matchOf(orderId),
      renamed,
    });
    if (redaction === null) continue;
    renamed.set(eventId, redaction.blanked.eventId);
    redacted.push(redaction);
  }
  return redacted;
}

/** Which event this was kept of; null where it was kept of none. */
export function redactsOf(
  { kind, body }: Pick<RecordedEvent, "kind" | "body">,
): RedactedEvent | null {
  if (kind !== "order_redacted" || body === null) return null;
  const read = JSON.parse(new TextDecoder().decode(body)) as OrderRedactedBody;
  return read.redacts;
}

/**
 * Whether what was kept of an event names somebody: of an event that was pruned
 * the names are kept, of one that was erased they are not.
 */
export function keepsNames(event: RecordedEvent): boolean {
  return redactsOf(event)?.part === "body" &&
    (event.userId !== null || event.clickId !== null);
}
