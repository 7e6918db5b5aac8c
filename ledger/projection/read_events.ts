import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Driver, ResultSet } from "../store/driver/driver.ts";
import {
  type Checkpoints,
  checkpointsOf,
  type ProjectionSlot,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import {
  recordedBatch,
  selectBatch,
  selectFoldsOfBatch,
} from "../store/tables/events/event_batches.ts";
import {
  importedRanges,
  type PositionRange,
  selectImportedAfter,
} from "../store/tables/imported.ts";
import { selectAnyExpectation } from "../store/tables/events/expectations.ts";
import type { BatchEvent } from "./batch.ts";

/** Which events a step reads. */
export interface EventsOptions {
  /** Which states they are for. */
  readonly slot: ProjectionSlot;
  /** `write` reads from the primary: after a lost race a replica may be behind. */
  readonly mode: "read" | "write";
  /** Most events. */
  readonly maxEvents: number;
  /** Most bytes of bodies, unless one event alone has more. */
  readonly maxBytes: number;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

/** The next events, and what is read at the same moment. */
export interface EventsRead {
  /** The checkpoints at that moment. */
  readonly checkpoints: Checkpoints;
  /** Whether anything that the partner expects has been folded. */
  readonly anyExpected: boolean;
  /** The events. */
  readonly events: readonly BatchEvent[];
  /** Folds of the orders that the events name. */
  readonly orders: ResultSet | undefined;
  /** Folds of the users that the events name. */
  readonly users: ResultSet | undefined;
}

/**
 * Reads the next events and decodes them, and reads the folds of the orders and
 * users that they name at the same moment.
 *
 * @param options Which events.
 * @param after Position before the first; null for the slot's checkpoint.
 */
export async function readEvents(
  driver: Driver,
  options: EventsOptions,
  after: number | null,
): Promise<EventsRead> {
  const { slot, mode, maxEvents, maxBytes, readFact } = options;
  const batch = { slot, maxEvents, maxBytes, after };
  const [checkpoints, anyExpected, ranges, events, orders, users] = await driver
    .batch([
      selectCheckpoints,
      selectAnyExpectation,
      selectImportedAfter(slot),
      selectBatch(batch),
      ...selectFoldsOfBatch(batch),
    ], mode);
  return {
    checkpoints: checkpointsOf(checkpoints),
    anyExpected: anyExpected?.rows[0]?.[0] === 1,
    events: batchEvents(events, importedRanges(ranges), readFact),
    orders,
    users,
  };
}

function batchEvents(
  rows: ResultSet | undefined,
  ranges: readonly PositionRange[],
  readFact: EventsOptions["readFact"],
): BatchEvent[] {
  const imported = (position: number) =>
    ranges.some(([first, last]) => position >= first && position <= last);
  return recordedBatch(rows).map((event) => ({
    fact: readFact(event),
    named: event,
    delivered: event.kind === "webhook",
    imported: imported(event.position),
  }));
}
