import type { ClaimBody, ClaimedStatus } from "./fact.ts";
import { isKnown, orderRank } from "./order_rank.ts";
import type { Status } from "./order_state.ts";
import { compareTimes, laterTime } from "./time.ts";

/** Differing bodies that are kept of one claimed status. */
export const CLAIM_BODIES_KEPT = 4;

/** A status that webhooks claimed. */
export interface Claim {
  /** The claimed status. */
  readonly status: ClaimedStatus;
  /** `recordedAt` of the last webhook that claimed it. */
  readonly lastAt: string;
  /**
   * What those webhooks say, each different saying once, highest digest first.
   * Beyond {@linkcode CLAIM_BODIES_KEPT} the lowest digests are let go: those
   * kept already cannot all agree with one reading.
   */
  readonly bodies: readonly ClaimBody[];
}

/** The latest contradiction of a claimed status. */
export interface Contradiction {
  /** The claimed status. */
  readonly status: Status;
  /** Claims received until then are contradicted. */
  readonly upTo: string;
}

/** Adds a claim: the latest time of each status, and what was said. */
export function addClaim(
  claims: readonly Claim[],
  status: ClaimedStatus,
  recordedAt: string,
  body: ClaimBody | null,
): readonly Claim[] {
  const rank = orderRank(status);
  let at = 0;
  for (const claim of claims) {
    if (claim.status === status) {
      const bodies = body === null ? claim.bodies : addBody(claim.bodies, body);
      const lastAt = laterTime(claim.lastAt, recordedAt);
      return bodies === claim.bodies && lastAt === claim.lastAt
        ? claims
        : claims.with(at, { status, lastAt, bodies });
    }
    if (orderRank(claim.status) > rank) break;
    at++;
  }
  return claims.toSpliced(at, 0, {
    status,
    lastAt: recordedAt,
    bodies: body === null ? [] : [body],
  });
}

/**
 * Keeps each different saying once, under its highest digest, and of those the
 * highest {@linkcode CLAIM_BODIES_KEPT}. A saying let go and met again with a
 * higher digest comes back, so the order of arrival leaves no trace.
 */
function addBody(
  bodies: readonly ClaimBody[],
  body: ClaimBody,
): readonly ClaimBody[] {
  const same = bodies.findIndex((other) => saysTheSame(other, body));
  const known = bodies[same];
  if (known !== undefined && known.digest >= body.digest) return bodies;
  const rest = known === undefined ? bodies : bodies.toSpliced(same, 1);
  let at = 0;
  for (const other of rest) {
    if (other.digest < body.digest) break;
    at++;
  }
  return at >= CLAIM_BODIES_KEPT
    ? bodies
    : rest.toSpliced(at, 0, body).slice(0, CLAIM_BODIES_KEPT);
}

function saysTheSame(a: ClaimBody, b: ClaimBody): boolean {
  return a.digest === b.digest || (
    a.currencyAmount === b.currencyAmount &&
    a.cryptoAmount === b.cryptoAmount &&
    a.txId === b.txId &&
    a.address === b.address &&
    a.currency === b.currency &&
    a.commodity === b.commodity &&
    a.userId === b.userId &&
    a.clickId === b.clickId &&
    a.externalOrderId === b.externalOrderId &&
    a.failReason === b.failReason &&
    a.scAddress === b.scAddress &&
    a.scInputData === b.scInputData
  );
}

/** Keeps the latest contradiction of each status. */
export function addContradiction(
  contradicted: readonly Contradiction[],
  status: Status,
  upTo: string,
): readonly Contradiction[] {
  const rank = orderRank(status);
  // Webhooks claim documented statuses only, so no other can be contradicted.
  if (!isKnown(status)) return contradicted;
  let at = 0;
  for (const entry of contradicted) {
    if (entry.status === status) {
      return compareTimes(upTo, entry.upTo) > 0
        ? contradicted.with(at, { status, upTo })
        : contradicted;
    }
    if (orderRank(entry.status) > rank) break;
    at++;
  }
  return contradicted.toSpliced(at, 0, { status, upTo });
}
