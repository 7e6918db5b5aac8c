import type { SandboxOrder } from "./sandbox_order.ts";
import { orderTime } from "./_times.ts";
import { jsonNumber } from "./_exact_json.ts";

/**
 * The two forms of the orders answer that the service has had: the earlier
 * one lacks `external_order_id`, `tx_id` and what follows, and has no cursor.
 */
export type OrderForm = "current" | "earlier";

/** An order as the orders endpoint writes it. */
export function orderJson(
  order: SandboxOrder,
  form: OrderForm,
): Record<string, unknown> {
  const { fees } = order;
  const earlier: Record<string, unknown> = {
    order_id: order.orderId,
    click_id: order.clickId,
    currency: order.currency.toLowerCase(),
    currency_amount: jsonNumber(order.currencyAmount),
    crypto: dottedAsset(order),
    crypto_amount: jsonNumber(order.cryptoAmount),
    user_id: order.userId,
    status: order.status,
    card_id: order.cardId,
    created_at: orderTime(order.createdAtMs),
    changed_at: orderTime(order.changedAtMs),
    ...(fees && {
      partner_fee: jsonNumber(fees.partnerFee),
      partner_fee_percent: jsonNumber(fees.partnerFeePercent),
      service_fee: jsonNumber(fees.serviceFee),
      service_fee_percent: jsonNumber(fees.serviceFeePercent),
    }),
  };
  if (form === "earlier") return earlier;
  return {
    ...earlier,
    external_order_id: order.externalOrderId,
    tx_id: order.txId,
    ...(order.processedThrough !== null && {
      processed_through: order.processedThrough,
    }),
    card_brand: order.cardBrand,
    fail_reason: order.failReason,
    payment_type: order.paymentType,
    additional_data: order.additionalData,
    address: order.address,
    ...(order.scInputData !== null && { sc_input_data: order.scInputData }),
  };
}

/** The asset in dotted form, lower case. */
export function dottedAsset(
  order: Pick<SandboxOrder, "commodity" | "cryptoType" | "network">,
): string {
  return `${order.commodity}.${order.cryptoType}.${order.network}`
    .toLowerCase();
}
