import {
  fieldsWith,
  KEPT_OF_WEBHOOK,
  orderField,
} from "../../core/wire/order_fields.ts";
import { CLAIM_FIELDS, type ClaimBody } from "../events/order_facts.ts";
import type { ClaimedStatus } from "../machines/order_machine.ts";
import {
  addSorted,
  compareFields,
  compareText,
  type ListRule,
} from "../machines/sorted_list.ts";
import { isKnown, orderRank } from "../machines/order_machine.ts";
import type { Status } from "../machines/transition.ts";
import { compareTimes, laterTime } from "../events/time.ts";

/** Most different bodies that are kept of one claimed status. */
const CLAIM_BODIES_KEPT = 4;

/** A status that webhooks claimed. */
export interface Claim {
  /** The claimed status. */
  readonly status: ClaimedStatus;
  /** `recordedAt` of the last webhook that claimed it. */
  readonly lastAt: string;
  /**
   * The different bodies of those webhooks, highest first: by what is kept of
   * a webhook when the rest is erased, so that an erasure leaves the order as it
   * was; then by whom they name, and by digest. Beyond
   * {@linkcode CLAIM_BODIES_KEPT} some are dropped: those kept already cannot all
   * agree with one reading.
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

/** The ids that a webhook names: kept when its body is pruned. */
const NAMES = fieldsWith("webhook").filter((field) =>
  orderField(field).erasure === "replaced"
);

const bodyRule: ListRule<ClaimBody> = {
  compare: (b, a) =>
    compareFields(a, b, KEPT_OF_WEBHOOK) || compareFields(a, b, NAMES) ||
    compareText(a.digest, b.digest),
};

/**
 * Keeps each different body once, under its highest digest. A dropped body that
 * arrives again with a higher digest is added again, so the order of arrival
 * does not matter.
 */
function addBody(
  bodies: readonly ClaimBody[],
  body: ClaimBody,
): readonly ClaimBody[] {
  const known = bodies.find((other) => isSameClaim(other, body));
  if (known !== undefined && known.digest >= body.digest) return bodies;
  const others = bodies.filter((other) => other !== known);
  const all = addSorted(others, body, bodyRule);
  return all.length > CLAIM_BODIES_KEPT ? withoutOne(all) : all;
}

/**
 * Drops the lowest body that states the same as the one above it in the fields
 * that are kept, else the lowest: so the highest values of those fields are here
 * however many bodies state each of them.
 */
function withoutOne(bodies: readonly ClaimBody[]): readonly ClaimBody[] {
  const repeated = bodies.findLastIndex((body, at) => {
    const above = bodies[at - 1];
    return above !== undefined &&
      compareFields(above, body, KEPT_OF_WEBHOOK) === 0;
  });
  return bodies.toSpliced(repeated === -1 ? bodies.length - 1 : repeated, 1);
}

function isSameClaim(a: ClaimBody, b: ClaimBody): boolean {
  return a.digest === b.digest || compareFields(a, b, CLAIM_FIELDS) === 0;
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
