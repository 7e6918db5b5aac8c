import {
  claimState,
  isFinal,
  orderRank,
  type Status,
  type StatusFacts,
} from "../../ledger/for_sync.ts";

/** How long the service may disagree before a claim is contradicted. */
export const CONTRADICTED_AFTER_MS = 10 * 60_000;

/** What the service said about an order, and when. */
export interface Answer {
  /** Status the service showed; null when it does not know the order. */
  readonly status: Status | null;
  /**
   * When it was requested, by the clock that stamps webhooks: the service's own
   * clock may be minutes off.
   */
  readonly requestedAtMs: number;
}

/** A claim the service has not agreed with for long enough. */
export interface Contradiction {
  /** The claimed status. */
  readonly status: Status;
  /** `recordedAt` of the last claim that this contradicts. */
  readonly upTo: string;
}

/**
 * Finds the claims that an answer contradicts, among those that still count.
 *
 * The service agrees with a claim by showing that status, once, at any time. It
 * also agrees with a status on the way once it has moved past it. It never
 * agrees with a final status that it does not show.
 *
 * @param facts Folded facts of the order.
 * @param answer What the service said now.
 * @param contradictedAfterMs How long to wait, in milliseconds. @default {600000}
 *
 * @example A forged completion, ten minutes later
 * ```ts ignore
 * contradictions(fold, { status: "progress", requestedAtMs: Date.now() });
 * ```
 */
export function contradictions(
  facts: StatusFacts,
  answer: Answer,
  contradictedAfterMs: number = CONTRADICTED_AFTER_MS,
): Contradiction[] {
  return facts.claims
    .filter((claim) =>
      claimState(facts, claim) === "counted" &&
      answer.requestedAtMs - Date.parse(claim.lastAt) >= contradictedAfterMs &&
      !agrees(claim.status, answer.status)
    )
    .map(({ status, lastAt }) => ({ status, upTo: lastAt }));
}

function agrees(claimed: Status, shown: Status | null): boolean {
  if (shown === claimed) return true;
  if (shown === null || isFinal(claimed)) return false;
  return orderRank(shown) > orderRank(claimed);
}
