import type { RecordedEvent } from "../event/event.ts";
import type { OrderReading } from "./fact.ts";
import { normaliseStatus } from "./order_rank.ts";
import { filledText, linking, statedText, textOf, upper } from "./_text.ts";
import { normaliseTime } from "./time.ts";

/**
 * Normalises an order of the Data API, numbers already exact decimal strings;
 * null when it states no status.
 *
 * Source: service interface, "Order (Data API)".
 */
export function readOrder(
  event: RecordedEvent,
  order: Readonly<Record<string, unknown>>,
): OrderReading | null {
  const status = filledText(order.status);
  if (status === null) return null;
  const crypto = filledText(order.crypto);
  const first = crypto === null ? -1 : crypto.indexOf(".");
  const last = crypto === null ? -1 : crypto.lastIndexOf(".");
  return {
    digest: event.digest ?? "",
    readAt: event.readAt ?? event.recordedAt,
    status: normaliseStatus(status),
    changedAt: normaliseTime(textOf(order.changed_at)) ?? "",
    createdAt: normaliseTime(textOf(order.created_at)) ?? "",
    currency: upper(statedText(order.currency)),
    currencyAmount: statedText(order.currency_amount),
    commodity: crypto === null || first === -1
      ? upper(crypto)
      : crypto.slice(0, first).toUpperCase(),
    cryptoType: crypto === null || last <= first
      ? null
      : crypto.slice(first + 1, last),
    network: crypto === null || last === -1 ? null : crypto.slice(last + 1),
    cryptoAmount: statedText(order.crypto_amount),
    address: statedText(order.address),
    txId: statedText(order.tx_id),
    userId: statedText(order.user_id),
    clickId: linking(textOf(order.click_id)),
    externalOrderId: statedText(order.external_order_id),
    failReason: statedText(order.fail_reason),
    cardId: statedText(order.card_id),
    cardBrand: statedText(order.card_brand),
    paymentType: statedText(order.payment_type),
    processedThrough: statedText(order.processed_through),
    partnerFee: statedText(order.partner_fee),
    partnerFeePercent: statedText(order.partner_fee_percent),
    serviceFee: statedText(order.service_fee),
    serviceFeePercent: statedText(order.service_fee_percent),
    scInputData: statedText(order.sc_input_data),
  };
}
