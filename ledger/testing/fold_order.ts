import type { Fact } from "../events/fact.ts";
import { JoinedFacts } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";

/** Folds facts of an order, and what concerns it without naming it, from nothing. */
export function foldOrder(orderId: string, facts: Iterable<Fact>): OrderFold {
  let fold = initialOrderFold(orderId);
  const joined = new JoinedFacts();
  for (const fact of facts) {
    if (!joined.add(fact)) fold = evolveOrder(fold, fact);
  }
  // Last, because which of them are kept depends on the readings.
  return joined.join(fold);
}
