import { dottedAsset } from "../engine/dotted_asset.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import { orderTime } from "../seeded/times.ts";
import { ExactNumber } from "../../core/json/exact_number.ts";

/** An order as the orders endpoint writes it. */
export function orderJson(order: SandboxOrder): Record<string, unknown> {
  const { fees } = order;
  return {
    order_id: order.orderId,
    click_id: order.clickId,
    currency: order.currency.toLowerCase(),
    currency_amount: new ExactNumber(order.currencyAmount),
    crypto: dottedAsset(order),
    crypto_amount: new ExactNumber(order.cryptoAmount),
    user_id: order.userId,
    status: order.status,
    card_id: order.cardId,
    created_at: orderTime(order.createdAtMs),
    changed_at: orderTime(order.changedAtMs),
    ...(fees && {
      partner_fee: new ExactNumber(fees.partnerFee),
      partner_fee_percent: new ExactNumber(fees.partnerFeePercent),
      service_fee: new ExactNumber(fees.serviceFee),
      service_fee_percent: new ExactNumber(fees.serviceFeePercent),
    }),
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
