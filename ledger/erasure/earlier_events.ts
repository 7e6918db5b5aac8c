import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { readPrimary } from "../store/driver/read_primary.ts";
import type { Checkpoint } from "../store/tables/checkpoints.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableOfOrders,
} from "../store/tables/erasure/erasable_events.ts";
import { countErasure } from "../store/tables/erasure/erasures.ts";
import { deleteTraces } from "../store/tables/erasure/traces.ts";
import type { Redaction } from "./redact_event.ts";
import { keepsNames } from "./redacts_of.ts";
import { statesAfter } from "./states_after.ts";
import { touchedBy } from "./touched_by.ts";

/** What arrivals are redacted with. */
export interface ArrivalParts extends ResolveOptions {
  /** The states that the events are about to be folded onto. */
  readonly live: Checkpoint;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
  /** Random bytes for ids and salts. */
  readonly randomBytes: (length: number) => Uint8Array;
}

/** Reads what was folded of orders that are known to be erased only now. */
export async function readEarlier(
  driver: Driver,
  orderIds: readonly string[],
  position: number,
): Promise<ErasableEvent[]> {
  if (orderIds.length === 0) return [];
  const [rows] = await readPrimary(driver, [
    selectErasableOfOrders(orderIds, position),
  ]);
  return erasableEvents(rows).filter(({ event, erased }) =>
    event.kind === "order_redacted"
      ? keepsNames(event)
      : (event.kind === "webhook" || event.kind === "order_snapshot") &&
        (event.body !== null || erased?.part === "body")
  );
}

/** Makes the states anew that events had a part in which are redacted now. */
export async function foldAgain(
  driver: Driver,
  { live, readFact, ...resolve }: ArrivalParts,
  { newIds, earlier, redacted }: {
    readonly newIds: readonly string[];
    readonly earlier: readonly ErasableEvent[];
    readonly redacted: readonly Redaction[];
  },
): Promise<Statement[]> {
  if (earlier.length === 0) return [];
  const { position, generation } = live;
  const touched = await touchedBy(driver, {
    userId: null,
    orderIds: newIds,
    events: earlier,
  });
  return [
    ...countErasure,
    ...deleteTraces({
      ...touched,
      ownOrders: newIds,
      erasedUsers: [],
      sessions: earlier.filter(({ event }) => event.kind === "session_created")
        .map(({ event }) => event.position),
    }),
    ...await statesAfter(driver, {
      ...resolve,
      ...touched,
      redacted: redacted.filter(({ blanked }) => blanked.position <= position),
      position,
      generation,
      readFact,
    }),
  ];
}
