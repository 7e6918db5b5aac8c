import type { Fact } from "../events/fact.ts";
import { JoinedFacts } from "../orders/joined_facts.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { compareTimes } from "../events/time.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_fold.ts";

/**
 * Folds facts of an order, and what concerns it without naming it, from nothing.
 */
export function foldOrder(
  orderId: string,
  facts: Iterable<Fact>,
  until: string | null = null,
): OrderFold {
  let fold = initialOrderFold(orderId);
  const joined = new JoinedFacts();
  for (const fact of facts) {
    if (!isKnownBy(fact, until)) continue;
    if (!joined.add(fact)) fold = evolveOrder(fold, fact);
  }
  // Last, because which of them are kept depends on the readings.
  return joined.join(fold);
}

/** The same of a user. */
export function foldUser(
  userId: string,
  facts: Iterable<Fact>,
  until: string | null = null,
): UserFold {
  let fold = initialUserFold(userId);
  for (const fact of facts) {
    if (isKnownBy(fact, until)) fold = evolveUser(fold, fact);
  }
  return fold;
}

function isKnownBy(fact: Fact, until: string | null): boolean {
  return until === null || compareTimes(fact.recordedAt, until) <= 0;
}
