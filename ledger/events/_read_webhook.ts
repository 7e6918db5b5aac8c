import type {
  OrderEvent,
  WebhookEvent,
} from "../../core/webhook_event/webhook_event.ts";
import { isOrderEvent } from "../../core/webhook_event/guards.ts";
import { webhookType } from "../../core/webhook_event/event_types.ts";
import { parseWebhook } from "../../core/webhook_event/parse_webhook.ts";
import { isMarkedErased } from "./record.ts";
import type { RecordedEvent } from "./event.ts";
import type { ActivityLabel, Fact, WebhookFact } from "./fact.ts";
import { orderMachine } from "../machines/order_machine.ts";
import type { ClaimBody } from "./order_facts.ts";
import {
  claimCode,
  claimId,
  claimName,
  claimText,
  cleaned,
  linking,
} from "./fact_text.ts";
import { factBase, unreadable } from "./_fact_base.ts";

const decoder = new TextDecoder();
const claims = orderMachine.webhooks;
/** The most bytes of a contract's input data that a claim keeps. */
const longestInputData = 4096;

/** Decodes a webhook. Of an erased one, only the columns are read. */
export function readWebhookEvent(event: RecordedEvent): Fact {
  const known = event.type === null ? null : webhookType(event.type);
  if (event.body === null) {
    if (known === null) return unreadable(event, { code: "body_erased" });
    return columnsOnly(event, known);
  }
  const text = decoder.decode(event.body);
  const webhook = cleaned(parseWebhook(text), text);
  if (webhook.type === "unrecognised") {
    // A claim must not be lost because another field has an unexpected shape.
    if (known !== null && claims[known] !== null && event.orderId !== null) {
      return columnsOnly(event, known);
    }
    return unreadable(event, {
      code: "webhook_unrecognised",
      problems: webhook.reasons,
    });
  }
  if (isOrderEvent(webhook)) return orderWebhook(event, webhook);
  return webhook.type === "test"
    ? webhookFact(event, "test")
    : userWebhook(event, webhook);
}

function orderWebhook(event: RecordedEvent, webhook: OrderEvent): WebhookFact {
  const { order, user, type } = webhook;
  const verification = user?.verification_status;
  const fact: WebhookFact = {
    ...webhookFact(event, type),
    orderId: event.orderId,
    sessionId: claimId(webhook.hpp_session_id),
    clickId: linking(event.clickId),
    lkyc: claimName(verification?.lkyc?.state),
    fkyc: claimName(verification?.fkyc?.state),
  };
  if (event.orderId === null) return fact;
  const body: ClaimBody = {
    digest: event.digest ?? "",
    currency: claimCode(order.quote),
    currencyAmount: claimName(order.quote_amount),
    commodity: claimCode(order.base),
    cryptoAmount: claimName(order.base_amount),
    address: claimText(order.address),
    txId: claimText(order.transaction_id),
    userId: claimId(user?.user_id),
    clickId: linking(event.clickId),
    externalOrderId: claimId(order.external_order_id),
    failReason: claimText(order.error_code),
    scAddress: claimText(order.partner_data?.sc_address),
    scInputData: claimText(
      order.partner_data?.sc_input_data,
      longestInputData,
    ),
  };
  const isErased = event.body !== null && isMarkedErased(event.body);
  return {
    ...fact,
    ...{ claim: claims[type], body },
    ...isErased && { erased: true },
  };
}

function userWebhook(
  event: RecordedEvent,
  webhook: Exclude<WebhookEvent, OrderEvent | { type: "test" }>,
): WebhookFact {
  const fact = webhookFact(event, webhook.type);
  if (webhook.type === "otp_status") {
    return {
      ...fact,
      otp: {
        recordedAt: event.recordedAt,
        eventId: event.eventId,
        status: claimName(webhook.status) ?? "unknown",
        detail: claimText(webhook.status_detail),
        phoneCountry: claimCode(webhook.phone_country_code),
      },
    };
  }
  const verification = webhook.user?.verification_status;
  return {
    ...fact,
    lkyc: claimName(verification?.lkyc?.state),
    fkyc: claimName(verification?.fkyc?.state),
    rejectType: webhook.type === "verify_failed"
      ? claimName(webhook.reject_type)
      : null,
  };
}

/** What the columns of an order or user webhook say without its body. */
function columnsOnly(
  event: RecordedEvent,
  type: WebhookEvent["type"],
): WebhookFact {
  const fact = webhookFact(event, type);
  const claim = claims[type];
  if (claim === null || event.orderId === null) return fact;
  return {
    ...fact,
    orderId: event.orderId,
    clickId: linking(event.clickId),
    claim,
  };
}

/** A webhook that claims nothing of an order and says nothing of a user. */
function webhookFact(
  event: RecordedEvent,
  label: ActivityLabel,
): WebhookFact {
  return {
    ...factBase(event, label),
    kind: "webhook",
    userId: label === "test" ? null : event.userId,
    claim: null,
    body: null,
    lkyc: null,
    fkyc: null,
    rejectType: null,
    otp: null,
  };
}
