import type { NewEvent } from "../event/event.ts";
import type { Statement } from "./driver.ts";

const insert = `INSERT INTO events (
  event_id, kind, type, order_id, user_id, click_id,
  occurred_at, recorded_at, read_at, digest, body, salt)
SELECT e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3,
  e.value ->> 4, e.value ->> 5, e.value ->> 6, e.value ->> 7,
  e.value ->> 8, e.value ->> 9,
  substr(?1, e.value ->> 10, e.value ->> 11),
  substr(?1, e.value ->> 12, e.value ->> 13)
FROM json_each(?2) AS e
WHERE true
ON CONFLICT (event_id) DO NOTHING`;

/**
 * One statement that appends all `events`, whatever their number: one BLOB of
 * all bodies and salts, and a JSON array of columns and offsets into it.
 * Events whose `eventId` is stored already are passed over; nothing else is.
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
    return end - bytes.length + 1; // SQL counts bytes from one.
  };
  const rows = events.map((event) => [
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
    place(event.body),
    event.body.length,
    place(event.salt),
    event.salt.length,
  ]);
  return { sql: insert, args: [blob, JSON.stringify(rows)] };
}

/**
 * JSON would carry a lone surrogate or a NUL to SQLite as an escape, and
 * SQLite would make a text of it that it cannot hold.
 */
function columnOf(
  event: NewEvent,
  name: Exclude<keyof NewEvent, "body" | "salt">,
): string | null {
  const value = event[name];
  if (value === null || (value.isWellFormed() && !value.includes("\0"))) {
    return value;
  }
  throw new TypeError(
    `Cannot append event ${JSON.stringify(event.eventId)}: "${name}" ` +
      `is not well formed or holds NUL: ${JSON.stringify(value)}`,
  );
}
