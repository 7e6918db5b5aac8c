import type { RecordedEvent } from "../event/event.ts";
import type { Fact } from "../fold/fact.ts";
import type {
  Driver,
  ResultSet,
  SqlValue,
  Statement,
} from "../store/driver.ts";
import { recordedEvent } from "../store/event_row.ts";
import { endOfWindow } from "../store/window_end.ts";
import {
  type Checkpoints,
  checkpointsOf,
  type Lane,
  selectCheckpoints,
} from "./checkpoint.ts";
import type { WindowEvent } from "./fold_window.ts";

/** Which events a step reads. */
export interface EventsOptions {
  /** Which states they are for. */
  readonly lane: Lane;
  /** `write` reads from the primary: after a lost race a replica may be behind. */
  readonly mode: "read" | "write";
  /** Most events. */
  readonly maxEvents: number;
  /** Most bytes of bodies, unless one event alone has more. */
  readonly maxBytes: number;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

/** The events of a window, before the states they touch are known. */
export interface EventsRead {
  /** The checkpoints at that moment. */
  readonly checkpoints: Checkpoints;
  /** Whether any session of the partner has been folded. */
  readonly anySession: boolean;
  /** The events. */
  readonly events: readonly WindowEvent[];
  /** Folds that were read with them, as stored. */
  readonly states: readonly ResultSet[];
}

/** Where the window begins: as told, else at the lane's checkpoint. */
const checkpoint =
  "coalesce(?4, (SELECT position FROM projections WHERE name = ?1))";

const windowEnd = endOfWindow({
  where: `position > ${checkpoint} AND (?1 = 'live' OR position <=
    (SELECT position FROM projections WHERE name = 'live'))`,
  maxEvents: "?2",
  maxBytes: "?3",
});

const inWindow = `position > ${checkpoint} AND position <= ${windowEnd}`;

const ofLane =
  "generation = (SELECT generation FROM projections WHERE name = ?1)";

/**
 * All events as one text and one BLOB, because thousands of small values cost
 * more on their way between threads than everything else. The text holds the
 * columns and each body's length; what is inside a body is none of SQL's
 * business.
 */
const selectEvents = `SELECT json_group_array(json_array(position, event_id,
    kind, type, order_id, user_id, click_id, occurred_at, recorded_at, read_at,
    length(body), digest)),
    CAST(group_concat(body, '') AS BLOB)
  FROM (SELECT * FROM events WHERE ${inWindow} ORDER BY position)`;

/** Reads the folds of the orders that the window names. */
export const selectOrders: string = `SELECT order_id, fold FROM orders
  WHERE ${ofLane} AND order_id IN (SELECT order_id FROM events
    WHERE order_id IS NOT NULL AND ${inWindow})`;

/** Reads the folds of the users that the window names. */
export const selectUsers: string = `SELECT user_id, fold FROM users
  WHERE ${ofLane} AND user_id IN (SELECT user_id FROM events
    WHERE user_id IS NOT NULL AND ${inWindow})`;

const selectAnySession: Statement = {
  sql: "SELECT EXISTS (SELECT 1 FROM session_links)",
  args: [],
};

const selectImported = `SELECT first_position, last_position FROM imported
  WHERE last_position > (SELECT position FROM projections WHERE name = ?1)`;

/**
 * Reads the events of a window, and decodes them.
 *
 * @param driver The database.
 * @param options Which events.
 * @param after Position before the first; null for the lane's checkpoint.
 * @param states Statements of this file that read states along with them.
 */
export async function readEvents(
  driver: Driver,
  options: EventsOptions,
  after: number | null,
  states: readonly string[],
): Promise<EventsRead> {
  const { lane, mode, maxEvents, maxBytes, readFact } = options;
  const args = [lane, maxEvents, maxBytes, after];
  const [checkpoints, anySession, ranges, events, ...more] = await driver
    .batch([
      selectCheckpoints,
      selectAnySession,
      { sql: selectImported, args: [lane] },
      { sql: selectEvents, args },
      ...states.map((sql) => ({ sql, args })),
    ], mode);
  return {
    checkpoints: checkpointsOf(checkpoints),
    anySession: anySession?.rows[0]?.[0] === 1,
    events: windowEvents(events, ranges, readFact),
    states: more,
  };
}

function windowEvents(
  rows: ResultSet | undefined,
  ranges: ResultSet | undefined,
  readFact: EventsOptions["readFact"],
): WindowEvent[] {
  const imported = (position: number) =>
    ranges?.rows.some(([first, last]) =>
      position >= (first as number) && position <= (last as number)
    ) ?? false;
  const none = ranges === undefined || ranges.rows.length === 0;
  const [columns, bodies] = rows?.rows[0] ?? [];
  const packed: SqlValue[][] = JSON.parse(String(columns ?? "[]"));
  let end = 0;
  return packed.map((row) => {
    const length = row[10] as number | null;
    row[10] = length === null
      ? null
      : (bodies as Uint8Array | null)?.subarray(end, end + length) ??
        new Uint8Array(0);
    end += length ?? 0;
    // Salts are for the evidence alone.
    row[12] = null;
    const event = recordedEvent(row);
    return {
      fact: readFact(event),
      delivered: event.kind === "webhook",
      imported: none ? false : imported(event.position),
    };
  }).sort((a, b) => a.fact.position - b.fact.position);
}
