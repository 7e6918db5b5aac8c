import type { ClaimBody } from "../events/claim_body.ts";
import type { ClaimedStatus } from "../machines/order_machine.ts";
import { addSorted, type ListRule } from "../sorted_list.ts";
import { isKnown, orderRank } from "./order_rank.ts";
import type { Status } from "./status.ts";
import { compareTimes, laterTime } from "../events/time.ts";

/** Differing bodies that are kept of one claimed status. */
const CLAIM_BODIES_KEPT = 4;

/** A status that webhooks claimed. */
export interface Claim {
  /** The claimed status. */
  readonly status: ClaimedStatus;
  /** `recordedAt` of the last webhook that claimed it. */
  readonly lastAt: string;
  /**
   * The different bodies of those webhooks, highest digest first.
   * Beyond {@linkcode CLAIM_BODIES_KEPT} the lowest digests are dropped: those
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
  const bodies = body === null ? [] : [body];
  return addSorted(claims, { status, lastAt: recordedAt, bodies }, claimRule);
}

const claimRule: ListRule<Claim> = {
  compare: byRank,
  merge(known, { status, lastAt: at, bodies: [body] }) {
    const lastAt = laterTime(known.lastAt, at);
    const bodies = body === undefined
      ? known.bodies
      : addBody(known.bodies, body);
    return lastAt === known.lastAt && bodies === known.bodies
      ? known
      : { status, lastAt, bodies };
  },
};

/**
 * Keeps each different body once, under its highest digest, and of those the
 * highest {@linkcode CLAIM_BODIES_KEPT}. A dropped body that arrives again with a
 * higher digest is added again, so the order of arrival does not matter.
 */
function addBody(
  bodies: readonly ClaimBody[],
  body: ClaimBody,
): readonly ClaimBody[] {
  const same = bodies.findIndex((other) => isSameClaim(other, body));
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

function isSameClaim(a: ClaimBody, b: ClaimBody): boolean {
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
  // Webhooks claim documented statuses only, so no other can be contradicted.
  if (!isKnown(status)) return contradicted;
  return addSorted(contradicted, { status, upTo }, contradictionRule);
}

const contradictionRule: ListRule<Contradiction> = {
  compare: byRank,
  merge: (known, added) =>
    compareTimes(added.upTo, known.upTo) > 0 ? added : known,
};

function byRank(
  a: { readonly status: Status },
  b: { readonly status: Status },
): number {
  return orderRank(a.status) - orderRank(b.status);
}
