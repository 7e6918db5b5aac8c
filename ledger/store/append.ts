import type { NewEvent, RecordedEvent } from "../event/event.ts";
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
  const { blob, rows } = packEvents(events);
  return { sql: insert, args: [blob, JSON.stringify(rows)] };
}

/** What is packed of an event; an imported one may be erased. */
export type Packable =
  & Omit<NewEvent, "body" | "digest" | "salt">
  & Pick<RecordedEvent, "body" | "digest" | "salt">;

/** Events as one BLOB of bytes, and rows of columns and offsets into it. */
export interface PackedEvents {
  /** All bodies and salts. */
  readonly blob: Uint8Array;
  /** Ten columns, then offset and length of body and salt, from one. */
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/**
 * Packs events so that one statement can hold any number of them.
 *
 * @param events The events.
 * @throws {TypeError} When an event holds text that cannot be a column.
 *
 * @example Pack two events
 * ```ts ignore
 * const { blob, rows } = packEvents([first, second]);
 * ```
 */
export function packEvents(events: readonly Packable[]): PackedEvents {
  let size = 0;
  for (const { body, salt } of events) {
    size += (body?.byteLength ?? 0) + (salt?.byteLength ?? 0);
  }
  const blob = new Uint8Array(size);
  let end = 0;
  const place = (bytes: Uint8Array | null) => {
    if (bytes === null) return null;
    blob.set(bytes, end);
    end += bytes.byteLength;
    return end - bytes.byteLength + 1; // SQL counts bytes from one.
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
    event.body?.byteLength ?? null,
    place(event.salt),
    event.salt?.byteLength ?? null,
  ]);
  return { blob, rows };
}

/**
 * JSON would carry a lone surrogate or a NUL to SQLite as an escape, and
 * SQLite would make a text of it that it cannot hold.
 */
function columnOf(
  event: Packable,
  name: Exclude<keyof Packable, "body" | "salt">,
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
