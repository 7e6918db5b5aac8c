import type { ClaimedStatus } from "./fact.ts";
import { isFinal, isKnown, orderRank } from "./order_rank.ts";
import type { Status, Trust } from "./order_state.ts";
import { compareTimes } from "./time.ts";

/** All that the status of an order depends on. */
export interface StatusFacts {
  /**
   * A: the latest snapshot by (`changed_at`, rank, `read_at`, digest); null
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
  readonly shown: readonly { readonly status: Status }[];
  /** Every claimed status that was contradicted, up to when. */
  readonly contradicted: readonly {
    /** The claimed status. */
    readonly status: Status;
    /** Claims received until then are contradicted. */
    readonly upTo: string;
  }[];
}

/**
 * Where a claim stands:
 *
 * - `counts`: nobody has spoken against it yet.
 * - `shown`: the service itself has shown this status, so the claim is used up
 *   and a repeat of it takes nothing back.
 * - `contradicted`: the service was asked and did not agree, and the claim has
 *   not been received again since.
 */
export type ClaimStanding = "counts" | "shown" | "contradicted";

/**
 * Tells where a claim stands.
 *
 * @param facts The order's facts.
 * @param claim One of `facts.claims`.
 * @returns The standing; `shown` goes before `contradicted`.
 */
export function claimStanding(
  facts: StatusFacts,
  claim: StatusFacts["claims"][number],
): ClaimStanding {
  for (const shown of facts.shown) {
    if (shown.status === claim.status) return "shown";
  }
  for (const contradiction of facts.contradicted) {
    if (
      contradiction.status === claim.status &&
      compareTimes(claim.lastAt, contradiction.upTo) <= 0
    ) return "contradicted";
  }
  return "counts";
}

/**
 * W: the highest claim that counts.
 *
 * @param facts The order's facts.
 * @returns The claimed status, or null when none counts.
 */
export function highestClaim(facts: StatusFacts): ClaimedStatus | null {
  let highest: ClaimedStatus | null = null;
  for (const claim of facts.claims) {
    if (
      (highest === null || orderRank(claim.status) > orderRank(highest)) &&
      claimStanding(facts, claim) === "counts"
    ) highest = claim.status;
  }
  return highest;
}

/** A status and how sure it is. */
export interface DecidedStatus {
  /** The status. */
  readonly status: Status;
  /** Whether it is the service's own word. */
  readonly trust: Trust;
}

/**
 * The rule of the order status.
 *
 * 1. The latest snapshot A is final or unknown: A, confirmed.
 * 2. A is not final, and the highest counting claim W ranks higher: W, claimed.
 * 3. Otherwise A, confirmed.
 * 4. No A: W, claimed.
 * 5. Neither: `created`, claimed.
 *
 * So a late or repeated webhook never takes a state back, a confirmed final
 * status changes only by a later snapshot, and a forged claim is never
 * confirmed.
 *
 * @param facts The order's facts.
 * @returns Status and trust.
 *
 * @example A late claim against a final reading
 * ```ts
 * import { decideOrderStatus } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(
 *   decideOrderStatus({
 *     latest: { status: "cancelled" },
 *     claims: [{ status: "success", lastAt: "2026-11-20T09:00:00.000Z" }],
 *     shown: [{ status: "cancelled" }],
 *     contradicted: [],
 *   }),
 *   { status: "cancelled", trust: "confirmed" },
 * );
 * ```
 */
export function decideOrderStatus(facts: StatusFacts): DecidedStatus {
  const read = facts.latest === null ? null : facts.latest.status;
  if (read !== null && (isFinal(read) || !isKnown(read))) {
    return { status: read, trust: "confirmed" };
  }
  const claim = highestClaim(facts);
  if (read === null) return { status: claim ?? "created", trust: "claimed" };
  return claim !== null && orderRank(claim) > orderRank(read)
    ? { status: claim, trust: "claimed" }
    : { status: read, trust: "confirmed" };
}

/**
 * Final statuses that counting claims hold against a final or unknown A.
 *
 * @param facts The order's facts.
 * @returns The claimed statuses that differ, by rank; empty when A is open.
 */
export function contestingClaims(facts: StatusFacts): ClaimedStatus[] {
  const read = facts.latest === null ? null : facts.latest.status;
  if (read === null || (isKnown(read) && !isFinal(read))) return [];
  return facts.claims.filter((claim) =>
    isFinal(claim.status) && claimStanding(facts, claim) === "counts"
  ).map((claim) => claim.status);
}

/**
 * Says in one sentence why the status is what it is.
 *
 * @param facts The order's facts.
 * @param decided What {@linkcode decideOrderStatus} makes of them.
 * @returns A sentence for people.
 */
export function orderStatusReason(
  facts: StatusFacts,
  { status, trust }: DecidedStatus = decideOrderStatus(facts),
): string {
  const read = facts.latest === null ? null : facts.latest.status;
  if (read !== null) return reasonWithReading(facts, read, status, trust);
  if (highestClaim(facts) !== null) {
    return `A webhook claims ${status} and the service has not been read yet`;
  }
  if (facts.claims.length > 0) {
    return `The service did not agree with ${
      list(facts.claims.map((claim) => claim.status))
    } as claimed by webhooks, and shows no such order`;
  }
  return "No webhook claims a status and the service has not been read yet";
}

function reasonWithReading(
  facts: StatusFacts,
  read: Status,
  status: Status,
  trust: Trust,
): string {
  if (trust === "claimed") {
    return `A webhook claims ${status}, which is ahead of ${read} in the latest reading`;
  }
  if (!isKnown(read)) {
    return `The latest reading shows ${read}, a status this version does not know and never takes as final`;
  }
  const contesting = contestingClaims(facts);
  if (contesting.length > 0) {
    return `The latest reading shows ${read}, and a claim of ${
      list(contesting)
    } does not change a final status`;
  }
  const refused = facts.claims.filter((claim) =>
    claimStanding(facts, claim) === "contradicted" &&
    orderRank(claim.status) > orderRank(read)
  );
  if (refused.length > 0) {
    return `The latest reading shows ${read}; the service did not agree with ${
      list(refused.map((claim) => claim.status))
    } as claimed by webhooks`;
  }
  return isFinal(read)
    ? `The latest reading shows ${read}, which is final`
    : `The latest reading shows ${read}, and no webhook claims more`;
}

function list(words: readonly string[]): string {
  return words.join(" and ");
}
