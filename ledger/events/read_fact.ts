import { readOrderRow, readUserRow } from "../../core/wire/read_row.ts";
import { isMarkedErased } from "./record.ts";
import type { RecordedEvent } from "./event.ts";
import { effectiveReadAt } from "./time.ts";
import type { Fact } from "./fact.ts";
import { normaliseStatus } from "../machines/order_machine.ts";
import { purchaseOf } from "./expectation.ts";
import { HAND_OUTCOMES } from "./hand_release.ts";
import { readOrder } from "./order_reading.ts";
import { readUser } from "./user_reading.ts";
import { readExpectation } from "./_read_expectation.ts";
import { readRedacted } from "./_read_redacted.ts";
import { readWebhookEvent } from "./_read_webhook.ts";
import { exactObject, filledText, linking, soundRow } from "./fact_text.ts";
import { normaliseTime } from "../../core/time/service_time.ts";
import { readChainFields } from "./chain_reading.ts";
import { readWitnessRule } from "./witness_rule.ts";
import { factBase, unreadable } from "./_fact_base.ts";

/**
 * Decodes a recorded event, once, into a normalised fact.
 *
 * Never throws: what cannot be read is a fact of kind `unreadable`, which is
 * counted and folds into nothing else. Of an erased event only the
 * columns are read: an order webhook keeps its claim, without fields.
 *
 * @param event An event as stored.
 * @returns The fact.
 *
 * @example What is left of an erased webhook
 * ```ts
 * import { readFact } from "./read_fact.ts";
 * import assert from "node:assert/strict";
 *
 * const fact = readFact({
 *   position: 1,
 *   eventId: "01HX",
 *   kind: "webhook",
 *   type: "order_complete",
 *   orderId: "01ORDER",
 *   userId: null,
 *   clickId: null,
 *   occurredAt: null,
 *   recordedAt: "2026-11-20T09:00:00.000Z",
 *   readAt: null,
 *   body: null, // erased: the columns still say what was claimed
 *   digest: null,
 *   salt: null,
 * });
 * assert(fact.kind === "webhook");
 * assert.equal(fact.claim, "success");
 * ```
 */
export function readFact(event: RecordedEvent): Fact {
  try {
    switch (event.kind) {
      case "webhook":
        return readWebhookEvent(event);
      case "order_snapshot":
        return readOrderSnapshot(event);
      case "user_snapshot":
        return readUserSnapshot(event);
      case "order_redacted":
        return readRedacted(event);
      case "order_absent":
        return readAbsent(event);
      case "order_contradicted":
        return readContradicted(event);
      case "order_released":
        return readReleased(event);
      case "chain_reading":
        return readChainReading(event);
      case "witness_required":
        return readRequirement(event);
      case "session_created":
      case "order_expected":
        return readExpectation(event, event.kind);
      case "delivery_unanswered":
        return readUnanswered(event);
      case "month_closed":
      case "note":
      case "person_erased":
        return { ...factBase(event, event.kind), kind: event.kind };
      default:
        event.kind satisfies never;
        return unreadable(event, { code: "unknown_kind" });
    }
  } catch {
    return unreadable(event, { code: "body_not_json" });
  }
}

function readOrderSnapshot(event: RecordedEvent): Fact {
  if (event.body === null || isMarkedErased(event.body)) {
    return unreadable(event, { code: "body_erased" });
  }
  const read = soundRow(event.body, readOrderRow);
  if (read === null) return unreadable(event, { code: "body_not_object" });
  return {
    ...factBase(event, "order_snapshot"),
    kind: "order_snapshot",
    orderId: event.orderId,
    clickId: linking(event.clickId),
    reading: readOrder(event, read.row, read.odd),
  };
}

function readUserSnapshot(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, { code: "body_erased" });
  const read = soundRow(event.body, readUserRow);
  if (read === null) return unreadable(event, { code: "body_not_object" });
  return {
    ...factBase(event, "user_snapshot"),
    kind: "user_snapshot",
    userId: event.userId,
    reading: readUser(event, read.row, read.odd),
  };
}

function readAbsent(event: RecordedEvent): Fact {
  return {
    ...factBase(event, "order_absent"),
    kind: "order_absent",
    orderId: event.orderId,
    readAt: effectiveReadAt(event.readAt, event.recordedAt),
  };
}

function readContradicted(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, { code: "body_erased" });
  const body = exactObject(event.body);
  const status = filledText(body?.status);
  const upTo = normaliseTime(filledText(body?.up_to));
  if (status === null || upTo === null) {
    return unreadable(event, { code: "contradiction_incomplete" });
  }
  return {
    ...factBase(event, "order_contradicted"),
    kind: "order_contradicted",
    orderId: event.orderId,
    status: normaliseStatus(status),
    upTo,
  };
}

function readReleased(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, { code: "body_erased" });
  const body = exactObject(event.body);
  const outcome = HAND_OUTCOMES.find((one) => one === body?.outcome);
  if (outcome === undefined) {
    return unreadable(event, { code: "release_incomplete" });
  }
  const { recordedAt, eventId } = event;
  const purchase = outcome === "delivered"
    ? purchaseOf({
      reference: filledText(body?.for),
      clickId: filledText(body?.for_click_id),
    })
    : null;
  return {
    ...factBase(event, "order_released"),
    kind: "order_released",
    orderId: event.orderId,
    hand: { outcome, purchase, recordedAt, eventId },
  };
}

function readChainReading(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, { code: "body_erased" });
  const look = readChainFields(exactObject(event.body) ?? {}, {
    readAt: effectiveReadAt(event.readAt, event.recordedAt),
    digest: event.digest ?? "",
    erased: false,
  });
  if (look === null) return unreadable(event, { code: "look_incomplete" });
  return {
    ...factBase(event, "chain_reading"),
    kind: "chain_reading",
    orderId: event.orderId,
    look,
  };
}

function readRequirement(event: RecordedEvent): Fact {
  const body = event.body === null ? null : exactObject(event.body);
  const change = readWitnessRule(body ?? {}, {
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
  });
  if (change === null) return unreadable(event, { code: "rule_incomplete" });
  return {
    ...factBase(event, "witness_required"),
    kind: "witness_required",
    change,
  };
}

function readUnanswered(event: RecordedEvent): Fact {
  const body = event.body === null ? null : exactObject(event.body);
  return {
    ...factBase(event, "delivery_unanswered"),
    kind: "delivery_unanswered",
    deliveryId: filledText(body?.event_id),
  };
}
