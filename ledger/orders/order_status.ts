import type { Decision } from "../machines/machine.ts";
import { type ClaimedStatus, orderMachine } from "../machines/order_machine.ts";
import { isKnown, orderRank } from "../machines/order_machine.ts";
import type { Status, Trust } from "../machines/transition.ts";
import { compareTimes } from "../events/time.ts";

/** Everything that the status of an order depends on. */
export interface StatusFacts {
  /**
   * A: the latest snapshot by (`changed_at`, rank, `read_at`, content); null
   * when there is none.
   */
  readonly latest: { readonly status: Status } | null;
  /** Every status a webhook claimed, with the last time one did. */
  readonly claims: readonly {
    /** The claimed status. */
    readonly status: ClaimedStatus;
    /** `recordedAt` of the last webhook that claimed it. */
    readonly lastAt: string;
  }[];
  /** Every status a snapshot ever showed. */
  readonly observedStatuses: readonly { readonly status: Status }[];
  /** Every claimed status that was contradicted, up to when. */
  readonly contradicted: readonly {
    /** The claimed status. */
    readonly status: Status;
    /** Claims received until then are contradicted. */
    readonly upTo: string;
  }[];
}

/**
 * State of a claim:
 *
 * - `counted`: neither observed nor contradicted.
 * - `observed`: a reading has shown this status, so the claim
 *   is used up, and a repeat of it changes nothing.
 * - `contradicted`: the service was asked and did not agree, and the claim has
 *   not been received again since.
 */
export type ClaimState = "counted" | "observed" | "contradicted";

/** Decides the state of a claim. */
export function claimState(
  facts: StatusFacts,
  claim: StatusFacts["claims"][number],
): ClaimState {
  const { status, lastAt } = claim;
  if (facts.observedStatuses.some((one) => one.status === status)) {
    return "observed";
  }
  return facts.contradicted.some((one) =>
      one.status === status && compareTimes(lastAt, one.upTo) <= 0
    )
    ? "contradicted"
    : "counted";
}

function countedClaims(facts: StatusFacts): ClaimedStatus[] {
  return facts.claims.filter((claim) => claimState(facts, claim) === "counted")
    .map(({ status }) => status);
}

/** W: the highest claim that counts. */
export function highestClaim(facts: StatusFacts): ClaimedStatus | null {
  const claims = countedClaims(facts);
  const ranks = claims.map((status) => orderRank(status));
  return claims[ranks.indexOf(Math.max(...ranks))] ?? null;
}

/** A status and how sure it is. */
export interface DecidedStatus {
  /** The status. */
  readonly status: Status;
  /** Whether it is confirmed by the service. */
  readonly trust: Trust;
}

/**
 * The status of an order by the table of {@linkcode orderMachine}, which says:
 *
 * 1. The latest snapshot A is final or unknown: A, confirmed.
 * 2. A is not final, and the highest counting claim W ranks higher: W, claimed.
 * 3. Otherwise A, confirmed.
 * 4. No A: W, claimed.
 * 5. Neither: `created`, claimed.
 *
 * So a late or repeated webhook never takes a state back, a confirmed final status
 * changes only by a later snapshot, and a forged claim is never confirmed.
 */
export function decideOrderStatus(facts: StatusFacts): DecidedStatus {
  const read = facts.latest === null ? null : facts.latest.status;
  const claim = highestClaim(facts);
  switch (orderDecision(read, claim)) {
    case "claim":
      return { status: claim ?? orderMachine.initial, trust: "claimed" };
    case "initial":
      return { status: orderMachine.initial, trust: "claimed" };
    default:
      return { status: read ?? orderMachine.initial, trust: "confirmed" };
  }
}

/** Final statuses of counting claims that contest a final or unknown A. */
export function contestingClaims(facts: StatusFacts): ClaimedStatus[] {
  const read = facts.latest === null ? null : facts.latest.status;
  return countedClaims(facts).filter((status) =>
    orderDecision(read, status) === "reading_contested"
  );
}

/** What the table of the machine says of a reading (A) and a claim (W). */
export function orderDecision(
  read: Status | null,
  claimed: ClaimedStatus | null,
): Decision {
  const row = read === null ? "none" : isKnown(read) ? read : "unlisted";
  return orderMachine.decisions[row][claimed ?? "none"];
}
