import type { RecordedEvent } from "../../../events/event.ts";
import type { ResultSet, SqlValue, Statement } from "../../driver/driver.ts";
import { endOfWindow, EVENTS, recordedEvent } from "./event_rows.ts";
import type { ProjectionSlot } from "../checkpoints.ts";

/** Which events are folded next. */
export interface NextBatch {
  /** Which states they are for. */
  readonly slot: ProjectionSlot;
  /** Most events. */
  readonly maxEvents: number;
  /** Most bytes of bodies, unless one event alone has more. */
  readonly maxBytes: number;
  /** Position before the first; null for the checkpoint of the slot. */
  readonly after: number | null;
}

/** Selects the events; {@linkcode recordedBatch} reads them. */
export function selectBatch(batch: NextBatch): Statement {
  return { sql: selectEvents, args: argsOf(batch) };
}

/** Selects the folds of the orders, then of the users, that the events name. */
export function selectFoldsOfBatch(batch: NextBatch): Statement[] {
  const args = argsOf(batch);
  return [{ sql: selectOrders, args }, { sql: selectUsers, args }];
}

/** Reads the answer of {@linkcode selectBatch}: events without their salts. */
export function recordedBatch(result: ResultSet | undefined): RecordedEvent[] {
  const [columns, bodies] = result?.rows[0] ?? [];
  const packed: SqlValue[][] = JSON.parse(String(columns ?? "[]"));
  let end = 0;
  return packed.map((row) => {
    const length = row[EVENTS.at.body] as number | null;
    row[EVENTS.at.body] = length === null
      ? null
      : (bodies as Uint8Array | null)?.subarray(end, end + length) ??
        new Uint8Array(0);
    end += length ?? 0;
    return recordedEvent(row);
  }).sort((a, b) => a.position - b.position);
}

function argsOf(batch: NextBatch): SqlValue[] {
  return [batch.slot, batch.maxEvents, batch.maxBytes, batch.after];
}

/** Where the window begins: as told, else at the slot's checkpoint. */
const checkpoint =
  "coalesce(?4, (SELECT position FROM projections WHERE name = ?1))";

const windowEnd = endOfWindow({
  where: `position > ${checkpoint} AND (?1 = 'live' OR position <=
    (SELECT position FROM projections WHERE name = 'live'))`,
  maxEvents: "?2",
  maxBytes: "?3",
});

const inWindow = `position > ${checkpoint} AND position <= ${windowEnd}`;

const ofSlot =
  "generation = (SELECT generation FROM projections WHERE name = ?1)";

/**
 * All events as one text and one BLOB. Passing thousands of small values between
 * threads would cost more than everything else. The text holds the columns and
 * the length of each body. SQL never looks into a body.
 */
const selectEvents = `SELECT json_group_array(json_array(${
  // Salts are for the evidence alone.
  EVENTS.list(undefined, { body: "length(body)", salt: "NULL" })})),
    CAST(group_concat(body, '') AS BLOB)
  FROM (SELECT * FROM events WHERE ${inWindow} ORDER BY position)`;

const selectOrders = `SELECT order_id, fold FROM orders
  WHERE ${ofSlot} AND order_id IN (SELECT order_id FROM events
    WHERE order_id IS NOT NULL AND ${inWindow})`;

const selectUsers = `SELECT user_id, fold FROM users
  WHERE ${ofSlot} AND user_id IN (SELECT user_id FROM events
    WHERE user_id IS NOT NULL AND ${inWindow})`;
