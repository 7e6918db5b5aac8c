/** How urgent a webhook makes it to ask the service. */
import { isFinal } from "../machines/order_machine.ts";
import {
  isFinalVerification,
  isKnownVerification,
} from "../machines/user_machines.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_fold.ts";

/** 2: a final status was claimed for the first time; 1: another; 0: nothing new. */
export type Urgency = 0 | 1 | 2;

/** How fresh webhooks named an order or a user. */
export interface ToConfirm {
  /** When the last of them came, UTC ISO 8601. */
  readonly at: string;
  /** How urgent the most urgent of them makes it. */
  readonly urgency: Urgency;
  /** Position of the last of them that makes it urgent; 0 where none does. */
  readonly claimedBy: number;
}

/**
 * Each status that no reading has shown makes an order urgent once, however often it
 * is claimed.
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

/** The same of the verifications of a user. */
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
