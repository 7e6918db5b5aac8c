import type { Delivery } from "../../webhooks/delivery.ts";
import { derive } from "../event/derive.ts";
import { type AppendRow, appendRow, appendRows, checkText } from "./append.ts";
import type { Statement } from "./driver.ts";

const SALT_BYTES = 16;

/** What of a delivery is not in the BLOB: id, time of receipt, body length. */
type DeliveryRow = readonly [id: string, receivedAt: string, bytes: number];

/**
 * One statement that appends deliveries as they were received. What is derived
 * from their bodies is derived by whoever runs the statement, with
 * {@linkcode withDerivedColumns}: in the thread of the database, so that the
 * one which answers the sender has the least to do.
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
 * The statement to run in place of one that still has columns to be derived;
 * any other is returned as it is.
 *
 * @param statement Any statement.
 */
export function withDerivedColumns(statement: Statement): Statement {
  if (statement.derive === undefined) return statement;
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
