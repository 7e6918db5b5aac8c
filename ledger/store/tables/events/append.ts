import type { NewEvent } from "../../../events/event.ts";
import type { Statement } from "../../driver/driver.ts";

// The limit has no effect on the result. It stops SQLite from building the JSON
// of a row again for each column.
const insert = `INSERT INTO events (
  event_id, kind, type, order_id, user_id, click_id,
  occurred_at, recorded_at, read_at, digest, body, salt)
SELECT e ->> 0, e ->> 1, e ->> 2, e ->> 3, e ->> 4, e ->> 5, e ->> 6,
  e ->> 7, e ->> 8, e ->> 9,
  substr(?1, e ->> 10, e ->> 11), substr(?1, e ->> 12, e ->> 13)
FROM (SELECT value AS e FROM json_each(?2) LIMIT -1)
WHERE true
ON CONFLICT (event_id) DO NOTHING`;

/** The columns of an event that are text. */
export type TextColumns = Omit<NewEvent, "body" | "salt">;

/** A row of the statement: the text columns, then where body and salt are. */
export type AppendRow = readonly (string | number | null)[];

/**
 * One statement that appends any number of events. Its arguments are one BLOB
 * of all bodies and salts, and a JSON array of columns and offsets into it.
 * Only events whose `eventId` is stored already are skipped.
 *
 * @param events The events, in the order they are to be stored.
 * @throws {TypeError} When an event holds text that cannot be a column.
 */
export function appendStatement(events: readonly NewEvent[]): Statement {
  let size = 0;
  for (const { body, salt } of events) size += body.length + salt.length;
  const blob = new Uint8Array(size);
  let end = 0;
  const place = (bytes: Uint8Array): number => {
    blob.set(bytes, end);
    end += bytes.length;
    return end - bytes.length;
  };
  return appendRows(
    blob,
    events.map((event) =>
      appendRow(
        event,
        [place(event.body), event.body.length],
        [place(event.salt), event.salt.length],
      )
    ),
  );
}

/**
 * The statement that appends rows whose bytes lie in `blob` already.
 *
 * @param blob Bodies and salts.
 * @param rows One for each event.
 */
export function appendRows(
  blob: Uint8Array,
  rows: readonly AppendRow[],
): Statement {
  return { sql: insert, args: [blob, JSON.stringify(rows)] };
}

/**
 * The row of an event.
 *
 * @param event Its text columns.
 * @param body Where its body begins, from zero, and how many bytes it has.
 * @param salt The same of its salt.
 * @throws {TypeError} When it holds text that cannot be a column.
 */
export function appendRow(
  event: TextColumns,
  body: readonly [at: number, bytes: number],
  salt: readonly [at: number, bytes: number],
): AppendRow {
  return [
    columnOf(event, "eventId"),
    columnOf(event, "kind"),
    columnOf(event, "type"),
    columnOf(event, "orderId"),
    columnOf(event, "userId"),
    columnOf(event, "clickId"),
    columnOf(event, "occurredAt"),
    columnOf(event, "recordedAt"),
    columnOf(event, "readAt"),
    columnOf(event, "digest"),
    body[0] + 1, // SQL counts bytes from one.
    body[1],
    salt[0] + 1,
    salt[1],
  ];
}

function columnOf(event: TextColumns, name: keyof TextColumns): string | null {
  const value = event[name];
  if (value !== null) checkText(event.eventId, name, value);
  return value;
}

/**
 * Refuses text that JSON passes to SQLite as an escape, and that SQLite then
 * cannot store.
 *
 * @param eventId The event, for the message.
 * @param name The column, for the message.
 * @param value Its text.
 * @throws {TypeError} When it holds a lone surrogate or a NUL.
 */
export function checkText(eventId: string, name: string, value: string): void {
  if (value.isWellFormed() && !value.includes("\0")) return;
  throw new TypeError(
    `Cannot append event ${JSON.stringify(eventId)}: "${name}" ` +
      `is not well formed or holds NUL: ${JSON.stringify(value)}`,
  );
}
