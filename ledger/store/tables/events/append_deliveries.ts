import type { Delivery } from "../../../../core/wire/delivery.ts";
import { derive } from "../../../events/derive.ts";
import { type AppendRow, appendRow, appendRows, checkText } from "./append.ts";
import { recordsStatement } from "./append_records.ts";
import type { Statement } from "../../driver/driver.ts";

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
