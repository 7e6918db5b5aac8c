import { hex } from "@scure/base";
import type { OrderState } from "../../../ledger/mod.ts";

/**
 * The body of a false `order_complete`: everything a buyer knows of an own
 * order, and a transaction that never was. Nothing in it gives it away, since
 * the service signs nothing.
 *
 * @param order The order that was not paid.
 * @param randomBytes Chance, for the transaction.
 */
export function forgedCompletion(
  order: OrderState,
  randomBytes: (length: number) => Uint8Array,
): string {
  return JSON.stringify({
    type: "order_complete",
    click_id: order.clickId ?? "",
    ...(order.sessions[0] !== undefined && {
      hpp_session_id: order.sessions[0],
    }),
    order: {
      id: order.orderId,
      base: order.commodity,
      base_amount: order.cryptoAmount,
      quote: order.currency,
      quote_amount: order.currencyAmount,
      address: order.address,
      transaction_id: `0x${hex.encode(randomBytes(32))}`,
      external_order_id: order.externalOrderId,
    },
    ...(order.userId !== null && {
      user: {
        user_id: order.userId,
        verification_status: {
          fkyc: { state: "success" },
          lkyc: { state: "success" },
        },
      },
    }),
  });
}
