import type { Expectation } from "../events/expectation.ts";
import { purchaseKey, purchaseOf } from "../events/expectation.ts";
import { sameAmount } from "../orders/compare.ts";
import type { OrderState } from "../states/order_state.ts";
import { ExpectationError } from "./expectation_error.ts";

/** The fields of terms that an order is compared with. */
const COMPARED = [
  "commodity",
  "network",
  "commodityAmount",
  "currency",
  "currencyAmount",
  "walletAddress",
  "userId",
] as const satisfies readonly (keyof Expectation)[];

/**
 * Refuses other terms for a purchase of which the service has shown success: they
 * would change nothing. Pure.
 *
 * @param expectation What is to be recorded.
 * @param orders States of orders that may be of the purchase.
 * @throws {ExpectationError} `purchase_paid`.
 */
export function refusePaid(
  expectation: Expectation,
  orders: readonly OrderState[],
): void {
  const purchase = purchaseOf(expectation);
  const paid = orders.find(({ expected, history }) =>
    expected !== null && purchaseKey(expected) === purchaseKey(expectation) &&
    history.some(({ source, status }) =>
      source === "snapshot" && status === "success"
    ) &&
    COMPARED.some((field) => !isSameTerm(expected[field], expectation[field]))
  );
  if (purchase === null || paid === undefined) return;
  throw new ExpectationError([{
    field: purchase.kind === "reference" ? "reference" : "click_id",
    message: `${JSON.stringify(purchase.name)} was paid by ${paid.orderId}; ` +
      "take a new one for each purchase, or state the same terms",
  }], "purchase_paid");
}

function isSameTerm(a: string | null, b: string | null): boolean {
  return a === b || (a !== null && b !== null && sameAmount(a, b, null));
}
