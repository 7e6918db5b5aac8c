import { parseExact } from "../../client/exact_json.ts";
import type { RecordedEvent } from "../event/event.ts";
import type { Fact, SessionFact, UnreadableFact } from "./fact.ts";
import { normaliseStatus } from "./order_rank.ts";
import { readOrder } from "./_read_order.ts";
import { readUser } from "./_read_user.ts";
import { readWebhookEvent } from "./_read_webhook.ts";
import { cleaned, filledText, linking, objectOf, upper } from "./_text.ts";
import { normaliseTime } from "./time.ts";
import { unreadable } from "./_unreadable.ts";

const decoder = new TextDecoder();

/**
 * Decodes a recorded event, once, into a normalised fact.
 *
 * Never throws: what cannot be read is a fact of kind `unreadable`, which is
 * counted and folds into nothing else. Of an erased event the columns still
 * speak: an order webhook keeps its claim, without fields.
 *
 * @param event An event as stored.
 * @returns The fact.
 *
 * @example What is left of an erased webhook
 * ```ts
 * import { readFact } from "@rampkit/onramp/ledger";
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
      case "order_absent":
        return readAbsent(event);
      case "order_contradicted":
        return readContradicted(event);
      case "session_created":
        return readSession(event);
      case "delivery_unanswered":
        return readUnanswered(event);
      default:
        event.kind satisfies never;
        return unreadable(event, "This version does not know the kind");
    }
  } catch {
    return unreadable(event, "The body is not JSON");
  }
}

function readOrderSnapshot(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, "The body is erased");
  const value = exactObject(event.body);
  const reading = value === null ? null : readOrder(event, value);
  if (reading === null) return unreadable(event, "The order has no status");
  return {
    kind: "order_snapshot",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: "order_snapshot",
    orderId: event.orderId,
    userId: null,
    sessionId: null,
    clickId: linking(event.clickId),
    reading,
  };
}

function readUserSnapshot(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, "The body is erased");
  const value = exactObject(event.body);
  if (value === null) return unreadable(event, "The body is not an object");
  return {
    kind: "user_snapshot",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: "user_snapshot",
    orderId: null,
    userId: event.userId,
    sessionId: null,
    clickId: null,
    reading: readUser(event, value),
  };
}

function readAbsent(event: RecordedEvent): Fact {
  return {
    kind: "order_absent",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: "order_absent",
    orderId: event.orderId,
    userId: null,
    sessionId: null,
    clickId: null,
    readAt: event.readAt ?? event.recordedAt,
  };
}

function readContradicted(event: RecordedEvent): Fact {
  if (event.body === null) return unreadable(event, "The body is erased");
  const body = exactObject(event.body);
  const status = filledText(body?.status);
  const upTo = normaliseTime(filledText(body?.up_to));
  if (status === null || upTo === null) {
    return unreadable(event, "The contradiction lacks a status or a time");
  }
  return {
    kind: "order_contradicted",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: "order_contradicted",
    orderId: event.orderId,
    userId: null,
    sessionId: null,
    clickId: null,
    status: normaliseStatus(status),
    upTo,
  };
}

function readSession(event: RecordedEvent): SessionFact | UnreadableFact {
  if (event.body === null) return unreadable(event, "The body is erased");
  const body = exactObject(event.body);
  const sessionId = filledText(body?.session_id);
  if (body === null || sessionId === null) {
    return unreadable(event, "The session has no id");
  }
  return {
    kind: "session_created",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: "session_created",
    orderId: null,
    userId: null,
    sessionId,
    clickId: linking(event.clickId),
    asked: {
      sessionId,
      recordedAt: event.recordedAt,
      flowType: filledText(body.flow_type) ?? "simple",
      reference: filledText(body.reference),
      commodity: upper(filledText(body.commodity)),
      network: filledText(body.network),
      commodityAmount: filledText(body.commodity_amount),
      currency: upper(filledText(body.currency)),
      currencyAmount: filledText(body.currency_amount),
      walletAddress: filledText(body.wallet_address),
      userId: filledText(body.user_id),
    },
  };
}

function readUnanswered(event: RecordedEvent): Fact {
  let deliveryId: string | null = null;
  if (event.body !== null) {
    const body = exactObject(event.body);
    deliveryId = filledText(body?.event_id);
  }
  return {
    kind: "delivery_unanswered",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: "delivery_unanswered",
    orderId: null,
    userId: null,
    sessionId: null,
    clickId: null,
    deliveryId,
  };
}

/** The JSON object in a body, its numbers as exact decimal strings. */
function exactObject(
  body: Uint8Array,
): Readonly<Record<string, unknown>> | null {
  const text = decoder.decode(body);
  return objectOf(cleaned(parseExact(text), text));
}
