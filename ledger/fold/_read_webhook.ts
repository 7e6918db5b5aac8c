import type { OrderEvent, WebhookEvent } from "../../webhooks/event.ts";
import { webhookType } from "../../webhooks/event_types.ts";
import { parseWebhook } from "../../webhooks/parse_webhook.ts";
import type { RecordedEvent } from "../event/event.ts";
import {
  type ActivityLabel,
  type ClaimBody,
  type ClaimedStatus,
  claimOf,
  type Fact,
  type OtpStep,
  type WebhookFact,
} from "./fact.ts";
import { claimText, cleaned, linking, upper } from "./_text.ts";
import { unreadable } from "./_unreadable.ts";

const decoder = new TextDecoder();

/** Decodes a webhook; of an erased one the columns still speak. */
export function readWebhookEvent(event: RecordedEvent): Fact {
  const known = event.type === null ? null : webhookType(event.type);
  if (event.body === null) {
    if (known === null) return unreadable(event, "The body is erased");
    return columnsOnly(event, known);
  }
  const text = decoder.decode(event.body);
  const webhook = cleaned(parseWebhook(text), text);
  if (webhook.type === "unrecognised") {
    // A claim must not be lost because another field has an unexpected shape.
    if (known !== null && known in claimOf && event.orderId !== null) {
      return columnsOnly(event, known);
    }
    return unreadable(event, webhook.reasons.join("; "));
  }
  switch (webhook.type) {
    case "payment_started":
    case "transfer_started":
    case "order_complete":
    case "order_failed":
    case "order_cancelled":
      return orderWebhook(event, webhook);
    case "test":
      return webhookFact(event, "test", null, null);
    default:
      return userWebhook(event, webhook);
  }
}

function orderWebhook(event: RecordedEvent, webhook: OrderEvent): WebhookFact {
  const { order, user } = webhook;
  const body: ClaimBody = {
    digest: event.digest ?? "",
    currency: upper(claimText(order.quote)),
    currencyAmount: claimText(order.quote_amount),
    commodity: upper(claimText(order.base)),
    cryptoAmount: claimText(order.base_amount),
    address: claimText(order.address),
    txId: claimText(order.transaction_id),
    userId: claimText(user?.user_id),
    clickId: linking(event.clickId),
    externalOrderId: claimText(order.external_order_id),
    failReason: claimText(order.error_code),
    scAddress: claimText(order.partner_data?.sc_address),
    scInputData: claimText(order.partner_data?.sc_input_data),
  };
  const verification = user?.verification_status;
  return {
    kind: "webhook",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: webhook.type,
    orderId: event.orderId,
    userId: event.userId,
    sessionId: claimText(webhook.hpp_session_id),
    clickId: linking(event.clickId),
    claim: event.orderId === null ? null : claimOf[webhook.type],
    body: event.orderId === null ? null : body,
    lkyc: claimText(verification?.lkyc?.state),
    fkyc: claimText(verification?.fkyc?.state),
    rejectType: null,
    otp: null,
  };
}

function userWebhook(
  event: RecordedEvent,
  webhook: Exclude<WebhookEvent, OrderEvent | { type: "test" }>,
): WebhookFact {
  let otp: OtpStep | null = null;
  let lkyc: string | null = null;
  let fkyc: string | null = null;
  let rejectType: string | null = null;
  if (webhook.type === "otp_status") {
    otp = {
      recordedAt: event.recordedAt,
      eventId: event.eventId,
      status: claimText(webhook.status) ?? "unknown",
      detail: claimText(webhook.status_detail),
      phoneCountry: upper(claimText(webhook.phone_country_code)),
    };
  } else {
    const verification = webhook.user?.verification_status;
    lkyc = claimText(verification?.lkyc?.state);
    fkyc = claimText(verification?.fkyc?.state);
    if (webhook.type === "verify_failed") {
      rejectType = claimText(webhook.reject_type);
    }
  }
  return {
    kind: "webhook",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: webhook.type,
    orderId: null,
    userId: event.userId,
    sessionId: null,
    clickId: null,
    claim: null,
    body: null,
    lkyc,
    fkyc,
    rejectType,
    otp,
  };
}

/** What the columns of an order or user webhook say without its body. */
function columnsOnly(
  event: RecordedEvent,
  type: WebhookEvent["type"],
): WebhookFact {
  if (type in claimOf) {
    const claim = claimOf[type as OrderEvent["type"]];
    return webhookFact(event, type, event.orderId, claim);
  }
  return webhookFact(event, type, null, null);
}

function webhookFact(
  event: RecordedEvent,
  label: ActivityLabel,
  orderId: string | null,
  claim: ClaimedStatus | null,
): WebhookFact {
  return {
    kind: "webhook",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label,
    orderId,
    userId: label === "test" ? null : event.userId,
    sessionId: null,
    clickId: orderId === null ? null : linking(event.clickId),
    claim: orderId === null ? null : claim,
    body: null,
    lkyc: null,
    fkyc: null,
    rejectType: null,
    otp: null,
  };
}
