import type { NewEvent } from "../../../events/event.ts";
import type { Statement } from "../../driver/driver.ts";
import type { Delivery } from "../../../../core/wire/delivery.ts";
import { derive, webhookColumns } from "../../../events/derive.ts";
import {
  BodyTally,
  bodyValue,
  classify,
} from "../../../../core/webhook_event/classify_body.ts";
import { readRecords } from "../../../../core/wire/delivery_records.ts";
import { type TextColumns, TEXTS } from "./event_rows.ts";
import { deliveryUnanswered } from "../../../events/mint.ts";

// The limit has no effect on the result. It stops SQLite from building the JSON
// of a row again for each column.
const insert = `INSERT INTO events (${TEXTS.list()}, body, salt)
SELECT ${TEXTS.valuesOf("e")},
  substr(?1, e ->> ${TEXTS.count}, e ->> ${TEXTS.count + 1}),
  substr(?1, e ->> ${TEXTS.count + 2}, e ->> ${TEXTS.count + 3})
FROM (SELECT value AS e FROM json_each(?2) LIMIT -1)
WHERE true
ON CONFLICT (event_id) DO NOTHING`;

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
  const row: (string | number | null)[] = [];
  for (const name of TEXTS.fields) {
    const value = event[name];
    if (value !== null) checkText(event.eventId, name, value);
    row.push(value);
  }
  // SQL counts bytes from one.
  row.push(body[0] + 1, body[1], salt[0] + 1, salt[1]);
  return row;
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

const SALT_BYTES = 16;

/** The parts of a delivery outside the BLOB: id, receipt time, body length. */
type DeliveryRow = readonly [id: string, receivedAt: string, bytes: number];

/**
 * One statement that appends deliveries as they were received. The driver that
 * runs the statement derives the columns from the bodies with
 * {@linkcode withDerivedColumns}. It does so in the database thread, because
 * the thread that answers the sender must have little work.
 *
 * @param deliveries What was received.
 * @param randomBytes Gives fresh random bytes, for the salts.
 * @throws {TypeError} When an id or a time of receipt cannot be a column.
 */
export function deliveriesStatement(
  deliveries: readonly Delivery[],
  randomBytes: (length: number) => Uint8Array,
): Statement {
  let size = deliveries.length * SALT_BYTES;
  let end = size;
  for (const { body } of deliveries) size += body.length;
  const blob = new Uint8Array(size);
  blob.set(randomBytes(end));
  const rows = deliveries.map(({ id, receivedAt, body }): DeliveryRow => {
    checkText(id, "eventId", id);
    checkText(id, "recordedAt", receivedAt);
    blob.set(body, end);
    end += body.length;
    return [id, receivedAt, body.length];
  });
  return { sql: "", args: [blob, JSON.stringify(rows)], derive: "deliveries" };
}

/**
 * Derives the missing columns of a statement. A statement that has all its
 * columns is returned unchanged.
 *
 * @param statement Any statement.
 */
export function withDerivedColumns(statement: Statement): Statement {
  if (statement.derive === undefined) return statement;
  if (statement.derive === "records") {
    const [records] = statement.args as readonly [Uint8Array];
    return recordsStatement(records, randomBytes);
  }
  const [blob, text] = statement.args as readonly [Uint8Array, string];
  const deliveries: readonly DeliveryRow[] = JSON.parse(text);
  let bodyAt = deliveries.length * SALT_BYTES;
  const rows = deliveries.map(([eventId, recordedAt, bytes], at): AppendRow => {
    const body = blob.subarray(bodyAt, bodyAt += bytes);
    return appendRow(
      {
        ...derive("webhook", body).columns,
        eventId,
        kind: "webhook",
        recordedAt,
        readAt: null,
      },
      [bodyAt - bytes, bytes],
      [at * SALT_BYTES, SALT_BYTES],
    );
  });
  return appendRows(blob, rows);
}

function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/**
 * One statement that appends what a spool hands over: deliveries, and notes of
 * unanswered ones. It also tells what the bodies are, which are parsed only once.
 *
 * @param records Whole records.
 * @param randomBytes Gives fresh random bytes, for the salts.
 */
export function recordsStatement(
  records: Uint8Array,
  randomBytes: (length: number) => Uint8Array,
): Statement {
  const read = readRecords(records);
  const classes = new BodyTally();
  const salts = randomBytes(read.length * SALT_BYTES);
  const statement = appendStatement(read.map((record, at) => {
    const salt = salts.subarray(
      at * SALT_BYTES,
      (at + 1) * SALT_BYTES,
    );
    if (!("body" in record)) {
      return deliveryUnanswered({ unanswered: record, salt });
    }
    const { id, receivedAt, body } = record;
    const value = bodyValue(body);
    classes.add(id, classify(value));
    return {
      ...webhookColumns(body, value),
      eventId: id,
      kind: "webhook",
      recordedAt: receivedAt,
      readAt: null,
      body,
      salt,
    };
  }));
  const { counts, odd } = classes;
  return { ...statement, classes: { counts, odd } };
}
