import { isFinal } from "../machines/order_rank.ts";
import {
  isFinalVerification,
  isKnownVerification,
} from "../machines/verification_machine.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { Urgency } from "../store/tables/polling/request_queues.ts";
import type { UserFold } from "../users/user_fold.ts";

/**
 * How urgent it is to ask for an order after a webhook: more where it was the
 * first to claim a status that no reading has shown, most where that is final.
 * Each status of an order makes it urgent once, however often it is claimed. Pure.
 *
 * @param before What was known before the webhook; undefined for nothing.
 * @param after What is known after it.
 */
export function urgencyOfOrder(
  before: OrderFold | undefined,
  after: OrderFold,
): Urgency {
  const known = before?.claims ?? [];
  // A claim is never dropped: no more of them means no new one.
  if (after.claims.length === known.length) return 0;
  const first = after.claims.filter(({ status }) =>
    !known.some((claim) => claim.status === status) &&
    !after.observedStatuses.some((shown) => shown.status === status)
  );
  return urgencyOf(first.map(({ status }) => isFinal(status)));
}

/**
 * The same of a user and of both verifications, as far as their states are
 * documented. Pure.
 *
 * @param before What was known before the webhook; undefined for nothing.
 * @param after What is known after it.
 */
export function urgencyOfUser(
  before: UserFold | undefined,
  after: UserFold,
): Urgency {
  const first = [
    [before?.lkyc, after.lkyc, after.observedLkyc] as const,
    [before?.fkyc, after.fkyc, after.observedFkyc] as const,
  ].flatMap(([known = [], stated, shown]) =>
    stated === known
      ? []
      : stated.filter(({ state }) =>
        isKnownVerification(state) && !shown.includes(state) &&
        !known.some((one) => one.state === state)
      )
  );
  return urgencyOf(first.map(({ state }) => isFinalVerification(state)));
}

function urgencyOf(areFinal: readonly boolean[]): Urgency {
  if (areFinal.length === 0) return 0;
  return areFinal.includes(true) ? 2 : 1;
}
