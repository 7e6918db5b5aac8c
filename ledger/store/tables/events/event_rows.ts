import type { EventKind } from "../../../machines/event_kind.ts";
import type { RecordedEvent } from "../../../events/event.ts";
import type { SqlValue } from "../../driver/driver.ts";

/** Columns of `events` in the order that {@linkcode recordedEvent} reads. */
export const eventColumns: string =
  "position, event_id, kind, type, order_id, user_id, click_id, " +
  "occurred_at, recorded_at, read_at, body, digest, salt";

/** The same columns of a table that a statement calls `name`. */
export function columnsOf(name: string): string {
  return eventColumns.split(", ").map((column) => `${name}.${column}`)
    .join(", ");
}

/**
 * Turns a row of `SELECT ${eventColumns}` into an event.
 *
 * @param row Values in the order of {@linkcode eventColumns}.
 */
export function recordedEvent(row: readonly SqlValue[]): RecordedEvent {
  return {
    position: row[0] as number,
    eventId: row[1] as string,
    kind: row[2] as EventKind,
    type: row[3] as string | null,
    orderId: row[4] as string | null,
    userId: row[5] as string | null,
    clickId: row[6] as string | null,
    occurredAt: row[7] as string | null,
    recordedAt: row[8] as string,
    readAt: row[9] as string | null,
    body: row[10] as Uint8Array | null,
    digest: row[11] as string | null,
    salt: row[12] as Uint8Array | null,
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
