import { readRecords } from "../../core/wire/delivery_records.ts";
import { deliveryUnanswered, webhookEvent } from "../events/mint.ts";
import { appendStatement } from "./append.ts";
import type { Statement } from "./driver/driver.ts";

const SALT_BYTES = 16;

/**
 * One statement that appends what a spool hands over: deliveries, and notes of
 * unanswered ones.
 *
 * @param records Whole records.
 * @param randomBytes Gives fresh random bytes, for the salts.
 */
export function recordsStatement(
  records: Uint8Array,
  randomBytes: (length: number) => Uint8Array,
): Statement {
  const read = readRecords(records);
  const salts = randomBytes(read.length * SALT_BYTES);
  return appendStatement(read.map((record, at) => {
    const salt = salts.subarray(at * SALT_BYTES, (at + 1) * SALT_BYTES);
    return "body" in record
      ? webhookEvent(record, salt)
      : deliveryUnanswered({ unanswered: record, salt });
  }));
}
