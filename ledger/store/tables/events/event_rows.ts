import type { EventKind } from "../../../machines/event_kind.ts";
import type { RecordedEvent } from "../../../events/event.ts";
import type { ResultSet, SqlValue, Statement } from "../../driver/driver.ts";
import { Columns, type ColumnsOf, plain } from "../columns.ts";
import type { ProjectionSlot } from "../checkpoints.ts";
import { orderFoldSql } from "../orders.ts";
import { userTextsSql } from "../users.ts";

/** The columns of an event that are text. */
export type TextColumns = Omit<RecordedEvent, "position" | "body" | "salt">;

const texts: ColumnsOf<TextColumns> = {
  eventId: ["event_id", plain()],
  kind: ["kind", plain()],
  type: ["type", plain()],
  orderId: ["order_id", plain()],
  userId: ["user_id", plain()],
  clickId: ["click_id", plain()],
  occurredAt: ["occurred_at", plain()],
  recordedAt: ["recorded_at", plain()],
  readAt: ["read_at", plain()],
  digest: ["digest", plain()],
};

/** The columns of an event that are text: what appends events writes them. */
export const TEXTS: Columns<TextColumns> = new Columns(texts);

/** The columns of an event. */
export const EVENTS: Columns<RecordedEvent> = new Columns({
  position: ["position", plain()],
  ...texts,
  body: ["body", plain()],
  salt: ["salt", plain()],
});

const { at } = EVENTS;

/**
 * Reads a row that was selected with {@linkcode EVENTS}. A refold reads millions:
 * an object that is written out is ten times as fast as one made in a loop.
 */
export function recordedEvent(row: readonly SqlValue[]): RecordedEvent {
  return {
    position: row[at.position] as number,
    eventId: row[at.eventId] as string,
    kind: row[at.kind] as EventKind,
    type: row[at.type] as string | null,
    orderId: row[at.orderId] as string | null,
    userId: row[at.userId] as string | null,
    clickId: row[at.clickId] as string | null,
    occurredAt: row[at.occurredAt] as string | null,
    recordedAt: row[at.recordedAt] as string,
    readAt: row[at.readAt] as string | null,
    body: row[at.body] as Uint8Array | null,
    digest: row[at.digest] as string | null,
    salt: row[at.salt] as Uint8Array | null,
  };
}

/** Which events a window may hold, each a piece of SQL. */
export interface WindowLimits {
  /** Condition of the events that come after the window before. */
  readonly where: string;
  /** Most events. */
  readonly maxEvents: string;
  /** Most bytes of bodies, unless one event alone has more. */
  readonly maxBytes: string;
}

/**
 * SQL for the position of the last event of a window; NULL when there is none.
 * Adding up sizes event by event is expensive. It is done only when the events
 * have too many bytes.
 *
 * @param limits Which events it may hold.
 */
export function endOfWindow(
  { where, maxEvents, maxBytes }: WindowLimits,
): string {
  const candidates = `(SELECT position, coalesce(length(body), 0) AS size
    FROM events WHERE ${where} ORDER BY position LIMIT ${maxEvents})`;
  return `(SELECT CASE WHEN bytes < ${maxBytes} THEN last ELSE (
      SELECT max(position) FROM (
        SELECT position, size, sum(size) OVER (ORDER BY position) AS total
        FROM ${candidates})
      WHERE total - size < ${maxBytes} OR total = size) END
    FROM (SELECT max(position) AS last, sum(size) AS bytes
      FROM ${candidates}))`;
}

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

/** Where the window begins: as given, else at the slot's checkpoint. */
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

const selectOrders = `SELECT order_id, ${orderFoldSql()} FROM orders
  WHERE ${ofSlot} AND order_id IN (SELECT order_id FROM events
    WHERE order_id IS NOT NULL AND ${inWindow})`;

const selectUsers = `SELECT user_id, ${userTextsSql().fold} FROM users
  WHERE ${ofSlot} AND user_id IN (SELECT user_id FROM events
    WHERE user_id IS NOT NULL AND ${inWindow})`;
