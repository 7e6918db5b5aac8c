import type { RecordedEvent } from "../events/event.ts";
import type { BatchEvent } from "../projection/batch.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableAt,
  selectErasableOfOrders,
} from "../store/tables/erasure/erasable_events.ts";
import { keepsNames, redactsOf } from "./redact_events.ts";

/** Whom an event names. */
export interface Names
  extends Pick<RecordedEvent, "orderId" | "userId" | "clickId"> {
  /** Whether the service has said that the order is that user's. */
  readonly showsOwner: boolean;
}

/** An event about nobody. */
export const NO_NAMES: Names = {
  orderId: null,
  userId: null,
  clickId: null,
  showsOwner: false,
};

/**
 * Reads whom events name that another ledger had pruned or erased: only their
 * columns say it, and what was kept of them.
 *
 * @param events Events that are about to be folded.
 * @returns The names by position, of such events alone.
 */
export async function readPrunedNames(
  driver: Driver,
  events: readonly BatchEvent[],
): Promise<ReadonlyMap<number, Names>> {
  const positions = events.flatMap(({ fact }) =>
    fact.digest === "" || fact.label === "order_redacted" ? fact.position : []
  );
  if (positions.length === 0) return new Map();
  const [rows] = await readPrimary(driver, [selectErasableAt(positions)]);
  return new Map(
    erasableEvents(rows).map((one) => [one.event.position, namesOf(one)]),
  );
}

function namesOf({ event, erased }: ErasableEvent): Names {
  const { orderId, userId, clickId } = event;
  if (erased?.part === "identity") return { ...NO_NAMES, userId };
  const names = event.body === null
    ? userId !== null || clickId !== null
    : keepsNames(event);
  const kind = redactsOf(event)?.kind ?? event.kind;
  return names
    ? { orderId, userId, clickId, showsOwner: kind === "order_snapshot" }
    : NO_NAMES;
}

/**
 * Adds what was kept of pruned events, and the events that it was kept of: they
 * are redacted together, so that one still proves the order of the other.
 *
 * @param events Events that are redacted.
 * @param folded Others up to this position are folded, and stay as they are.
 * @returns All of them, by position.
 */
export async function withCounterparts(
  driver: Driver,
  events: readonly ErasableEvent[],
  folded: number,
): Promise<ErasableEvent[]> {
  const ids = new Set(
    events.flatMap(({ event, erased }) =>
      erased?.part === "body"
        ? event.eventId
        : keepsNames(event)
        ? redactsOf(event)?.event_id ?? []
        : []
    ),
  );
  if (ids.size === 0) return [...events];
  const orderIds = new Set(events.flatMap(({ event }) => event.orderId ?? []));
  const [rows] = await readPrimary(driver, [
    selectErasableOfOrders([...orderIds], Number.MAX_SAFE_INTEGER),
  ]);
  const others = erasableEvents(rows).filter(({ event, erased }) =>
    event.position > folded &&
    (erased?.part === "body" && ids.has(event.eventId) ||
      ids.has(redactsOf(event)?.event_id ?? ""))
  );
  const all = new Map(
    [...events, ...others].map((one) => [one.event.position, one]),
  );
  return [...all.values()].sort((a, b) => a.event.position - b.event.position);
}
