import { BodyTally } from "../../../../core/webhook_event/body_classes.ts";
import {
  bodyValue,
  classify,
} from "../../../../core/webhook_event/classify_body.ts";
import { readRecords } from "../../../../core/wire/delivery_records.ts";
import { webhookColumns } from "../../../events/derive.ts";
import { deliveryUnanswered } from "../../../events/mint.ts";
import { appendStatement } from "./append.ts";
import type { Statement } from "../../driver/driver.ts";

const SALT_BYTES = 16;

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
    const salt = salts.subarray(at * SALT_BYTES, (at + 1) * SALT_BYTES);
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
