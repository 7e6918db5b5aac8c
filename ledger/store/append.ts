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
 *
 * @example Append within a batch of one's own
 * ```ts ignore
 * await driver.batch([guard, appendStatement(events)], "write");
 * ```
 */
export function appendStatement(events: readonly NewEvent[]): Statement {
  let size = 0;
  for (const event of events) {
    size += event.body.byteLength + event.salt.byteLength;
  }
  const blob = new Uint8Array(size);
  let end = 0;
  const rows = events.map((event) => {
    const body = end + 1; // SQL counts bytes from one.
    blob.set(event.body, end);
    end += event.body.byteLength;
    const salt = end + 1;
    blob.set(event.salt, end);
    end += event.salt.byteLength;
    return [
      event.eventId,
      event.kind,
      event.type,
      event.orderId,
      event.userId,
      event.clickId,
      event.occurredAt,
      event.recordedAt,
      event.readAt,
      event.digest,
      body,
      event.body.byteLength,
      salt,
      event.salt.byteLength,
    ];
  });
  const json = JSON.stringify(rows);
  // JSON writes a lone surrogate or a NUL as an escape that SQLite turns back
  // into text it cannot hold, so such a column must never get this far.
  if (/\\u(?:0000|d[89a-f])/.test(json)) refuseText(events);
  return { sql: insert, args: [blob, json] };
}

function refuseText(events: readonly NewEvent[]): void {
  for (const event of events) {
    for (const [name, value] of Object.entries(event)) {
      if (typeof value !== "string") continue;
      if (value.isWellFormed() && !value.includes("\0")) continue;
      throw new TypeError(
        `Cannot append event ${JSON.stringify(event.eventId)}: "${name}" ` +
          `is not well formed or holds NUL: ${JSON.stringify(value)}`,
      );
    }
  }
}
