import type {
  OrderRedactedBody,
  RecordedEvent,
  RedactedEvent,
} from "../events/event.ts";

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
