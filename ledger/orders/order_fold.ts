// @ts-types="@types/big.js"
import Big from "big.js";
import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  canonicalAddress,
  canonicalTransaction,
} from "../../core/chain/canonical.ts";
import {
  fieldsWith,
  KEPT_OF_WEBHOOK,
  ORDER_FIELDS,
  orderField,
} from "../../core/wire/fields.ts";
import {
  type ChainReading,
  CLAIM_FIELDS,
  type ClaimBody,
  evolveHand,
  type Expectation,
  type Hand,
  isLaterLook,
  type OrderFacts,
} from "../events/event.ts";
import { compareTimes, earlierTime, laterTime } from "../events/time.ts";
import {
  type OrderReading,
  statedTransactionForm,
} from "../events/readings.ts";
import { digestOfBytes } from "../events/record.ts";
import type { ActivityLabel, Fact, OtpStep } from "../events/fact.ts";
import {
  addSorted,
  boundUnknown,
  type ClaimedStatus,
  compareFields,
  compareText,
  isKnown,
  orderRank,
} from "../machines/machine.ts";
import type { WitnessRule } from "../../core/chain/verdict.ts";
import type { Status } from "../machines/transition.ts";
import { expectationsOf } from "./expectations.ts";

/**
 * Whether two amounts are equal as exact decimals, or within less than the smallest
 * unit of the asset: beyond an asset's precision one source may round and the other
 * cut. False also when either is not a decimal and the texts differ.
 */
export function sameAmount(
  a: string,
  b: string,
  decimals: number | null = null,
): boolean {
  if (a === b) return true;
  const left = decimalOf(a);
  const right = decimalOf(b);
  if (left === null || right === null) return false;
  // A difference writes out as many digits as a forged exponent names.
  const isBeyondReason = [left, right].some(({ e }) => Math.abs(e) > 1000);
  return decimals === null || isBeyondReason
    ? left.eq(right)
    : left.minus(right).abs().lt(new Big(`1e-${decimals}`));
}

function decimalOf(text: string): Big | null {
  try {
    return new Big(text.trim());
  } catch {
    return null;
  }
}

export function sameIgnoringCase(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}

/** Whether two values of a field are the same, by the rule of the table of fields. */
export function sameValue(
  field: keyof OrderFacts,
  a: string,
  b: string,
  { network, decimals }: {
    /** Null when it is not known. */
    readonly network: string | null;
    /** Precision of the asset; null compares its amounts exactly. */
    readonly decimals: number | null;
  },
): boolean {
  if (a === b) return true;
  switch (ORDER_FIELDS[field].same) {
    case "amount":
      return sameAmount(a, b);
    case "asset_amount":
      return sameAmount(a, b, decimals);
    case "address":
      return canonicalAddress(network, a) === canonicalAddress(network, b);
    case "transaction":
      return canonicalTransaction(network, a) ===
        canonicalTransaction(network, b);
    case "any_case":
      return sameIgnoringCase(a, b);
    case "exact":
      return false;
  }
}

/** Null when the table does not say. */
export function assetPrecision(
  assets: AssetTable,
  commodity: string | null,
  network: string | null,
): number | null {
  return commodity === null || network === null
    ? null
    : assetDecimals(assets, commodity, network);
}

function latestLook(
  looks: readonly ChainReading[],
): ChainReading | null {
  return looks.reduce<ChainReading | null>(
    (best, one) => best === null || isLaterLook(one, best) ? one : best,
    null,
  );
}

/**
 * The look that counts: the latest final one, else the latest, of those that are
 * made for exactly what the service shows now. Null where nobody looked at that.
 */
export function countingLook(
  { looks, latest }: {
    readonly looks: readonly ChainReading[];
    readonly latest: OrderReading | null;
  },
): ChainReading | null {
  const about = looks.filter((one) => latest !== null && isAbout(one, latest));
  return latestLook(about.filter((one) => one.final)) ?? latestLook(about);
}

/**
 * Whether a look was made for exactly what a reading shows. What an erasure took
 * away of either counts as equal; what it keeps is compared.
 */
export function isAbout(look: ChainReading, shown: OrderReading): boolean {
  const same = sameIgnoringCase;
  const kept = same(look.network, shown.network ?? "") &&
    same(look.asset ?? "", shown.commodity ?? "") &&
    same(look.type ?? "", shown.cryptoType ?? "") &&
    sameAmount(look.amount ?? "", shown.cryptoAmount ?? "");
  if (!kept || look.erased || shown.erasedTx !== null) return kept;
  return sameTransfer(shown.network, look, shown) &&
    (look.inputData ?? "") === inputDigest(shown.scInputData);
}

/** Whether two orders name one transaction, and one address or contract in it. */
export function sharesTransfer(
  one: OrderReading,
  other: OrderReading,
): boolean {
  return sameIgnoringCase(one.network ?? "", other.network ?? "") &&
    sameTransfer(one.network, one, other);
}

type Transfer = Pick<OrderReading, "txId" | "address">;

function sameTransfer(network: string | null, one: Transfer, other: Transfer) {
  const on = { network, decimals: null };
  return (["txId", "address"] as const).every((field) =>
    sameValue(field, one[field] ?? "", other[field] ?? "", on)
  );
}

/** What a look keeps of the input data of a call; empty where there is none. */
export function inputDigest(inputData: string | null): string {
  return inputData
    ? digestOfBytes(new TextEncoder().encode(inputData.toLowerCase()))
    : "";
}

/** One-time-code steps that are kept of a user: the latest ones. */
export const MAX_OTP_STEPS = 20;

/** In the order of their counters. Append only: stored folds count by place. */
const LABELS: readonly ActivityLabel[] = [
  ...["payment_started", "transfer_started", "order_complete"] as const,
  ...["order_failed", "order_cancelled", "unrecognised"] as const,
  ...["quarantined", "order_snapshot", "order_absent"] as const,
  ...["order_contradicted", "registration", "login", "logout"] as const,
  ...["card_added", "verify_start", "verify_retry", "verify_failed"] as const,
  ...["verify_success", "otp_status", "user_snapshot"] as const,
  ...["order_redacted", "order_released", "chain_reading"] as const,
];

/**
 * Adding commutes, so it is the same in any order of arrival; unlike the state
 * it grows with each repeat, and relies on each event being folded once.
 */
interface ActivityFold {
  /** Counters by place in the label list, without trailing zeros. */
  readonly counts: readonly number[];
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly lastWebhookAt: string | null;
  readonly lastReadAt: string | null;
}

export type UserActivityFold =
  & ActivityFold
  & Pick<UserActivity, "lastLoginAt" | "otp">;

/** What was received about an order or a user, for people. */
export interface Activity {
  /** Facts folded, repeats included. */
  readonly events: number;
  /** Facts by label; labels never seen are left out. */
  readonly counts: Readonly<Partial<Record<ActivityLabel, number>>>;
  /** When the first fact was recorded, UTC ISO 8601. */
  readonly firstRecordedAt: string | null;
  /** When the last fact was recorded, UTC ISO 8601. */
  readonly lastRecordedAt: string | null;
  /** When the last webhook was recorded, UTC ISO 8601. */
  readonly lastWebhookAt: string | null;
  /** When the service was last read, as far as recorded, UTC ISO 8601. */
  readonly lastReadAt: string | null;
}

/** Activity of a user, for people. */
export interface UserActivity extends Activity {
  /** When the last login was recorded, UTC ISO 8601. */
  readonly lastLoginAt: string | null;
  /** The last 20 steps of one-time codes, oldest first. */
  readonly otp: readonly OtpStep[];
}

export const noActivity: ActivityFold = {
  ...{ counts: [], firstAt: null, lastAt: null },
  ...{ lastWebhookAt: null, lastReadAt: null },
};

/** Sessions are not counted: one may be linked to an order several times. */
function evolveActivity(fold: ActivityFold, fact: Fact): ActivityFold {
  const { kind, label, recordedAt } = fact;
  const place = LABELS.indexOf(label);
  // What was kept of an event, and was kept again under other names.
  const isKeptAgain = kind === "unreadable" && label === "order_redacted";
  if (place === -1 || isKeptAgain) return fold;
  const readAt = kind === "order_snapshot" || kind === "user_snapshot"
    ? fact.reading.readAt
    : kind === "order_absent"
    ? fact.readAt
    : null;
  const lastReadAt = laterTime(fold.lastReadAt, readAt);
  // The erased event that it stands for is counted, and has no time of reading.
  if (fact.redacts !== undefined) {
    return lastReadAt === fold.lastReadAt ? fold : { ...fold, lastReadAt };
  }
  const isWebhook = kind === "webhook" || label === "unrecognised" ||
    label === "quarantined";
  const { lastWebhookAt } = fold;
  const counts = fold.counts.slice();
  while (counts.length <= place) counts.push(0);
  counts[place] = (counts[place] ?? 0) + 1;
  return {
    counts,
    firstAt: earlierTime(fold.firstAt, recordedAt),
    lastAt: laterTime(fold.lastAt, recordedAt),
    lastWebhookAt: isWebhook
      ? laterTime(lastWebhookAt, recordedAt)
      : lastWebhookAt,
    lastReadAt,
  };
}

export function evolveUserActivity(
  fold: UserActivityFold,
  fact: Fact,
): UserActivityFold {
  const activity = evolveActivity(fold, fact);
  const { lastLoginAt, otp } = fold;
  return activity === fold ? fold : {
    ...activity,
    lastLoginAt: fact.label === "login"
      ? laterTime(lastLoginAt, fact.recordedAt)
      : lastLoginAt,
    otp: fact.kind === "webhook" && fact.otp !== null
      ? addSorted(otp, fact.otp, {
        compare: (a, b) => compareFields(a, b, ["recordedAt", "eventId"]),
      }).slice(-MAX_OTP_STEPS)
      : otp,
  };
}

/** Gives an activity its labels. */
export function activityOf<Fold extends ActivityFold>(
  { counts, firstAt, lastAt, ...rest }: Fold,
): Activity & Omit<Fold, "counts" | "firstAt" | "lastAt"> {
  return {
    events: counts.reduce((sum, count) => sum + count, 0),
    counts: Object.fromEntries(
      LABELS.map((label, place) => [label, counts[place] ?? 0])
        .filter(([, count]) => count !== 0),
    ),
    firstRecordedAt: firstAt,
    lastRecordedAt: lastAt,
    ...rest,
  };
}

export interface Claim {
  readonly status: ClaimedStatus;
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

/**
 * Everything the ledger keeps of an order: plain JSON, of bounded size.
 *
 * Each field is a join-semilattice (a maximum, a minimum, or a bounded set by
 * a total order), so that facts can be added in any order, any number of
 * times, in any batches; only `activity` counts, and relies on each event
 * being folded once.
 */
export interface OrderFold extends Hand {
  readonly orderId: string;
  /**
   * A: `plausible`, or `ahead` where that was read after every plausible one.
   * See {@linkcode latestReading}.
   */
  readonly latest: OrderReading | null;
  /**
   * The latest reading by (`changed_at`, rank, `read_at`, content) whose
   * `changed_at` does not lie ahead of it.
   */
  readonly plausible: OrderReading | null;
  /** `read_at` of the last such reading. */
  readonly plausibleAt: string | null;
  /** The last reading whose `changed_at` lies ahead of it. */
  readonly ahead: OrderReading | null;
  /** The latest reading by (`read_at`, content) whose status cannot be read. */
  readonly statusless: OrderReading | null;
  /** The latest redacted reading that says how the order compared. */
  readonly redacted: OrderReading | null;
  /** Every status readings showed, by rank, and when it was first and last reached. */
  readonly observedStatuses: readonly {
    readonly status: Status;
    readonly first: string;
    readonly last: string;
  }[];
  /** Every status webhooks claimed, by rank. */
  readonly claims: readonly Claim[];
  /** Whether a webhook said that the transfer has begun. */
  readonly transferSeen: boolean;
  /** By rank, until when claims of a status are contradicted. */
  readonly contradicted: readonly {
    readonly status: Status;
    readonly upTo: string;
  }[];
  /** `read_at` of the last reading that showed the order. */
  readonly seenAt: string | null;
  /** `read_at` of the last reading that did not. */
  readonly absentAt: string | null;
  /**
   * Widget sessions that webhooks name. Those named first are kept, so that a
   * forged webhook cannot push them out later.
   */
  readonly sessions: readonly {
    readonly sessionId: string;
    readonly firstAt: string;
  }[];
  /** The earliest effective `created_at` of its readings; null without one. */
  readonly createdAt: string | null;
  /** The earliest effective `read_at` of its readings; null without one. */
  readonly firstReadAt: string | null;
  /** The same of its readings that show success. */
  readonly successReadAt: string | null;
  /** What the partner expects of the order, earliest first. */
  readonly expectations: readonly Expectation[];
  /** Looks at the chain: the latest final one, and the latest. */
  readonly looks: readonly ChainReading[];
  /** Of a success, the rule by which it waits for the chain; null where it does not. */
  readonly required: Exclude<WitnessRule, "off"> | null;
  /** What was received, and when. Not part of the state. */
  readonly activity: ActivityFold;
}

export function initialOrderFold(orderId: string): OrderFold {
  return {
    orderId,
    ...{ latest: null, plausible: null, plausibleAt: null, ahead: null },
    ...{ statusless: null, redacted: null, observedStatuses: [], claims: [] },
    ...{ transferSeen: false, contradicted: [], seenAt: null, absentAt: null },
    ...{ sessions: [], createdAt: null, firstReadAt: null },
    ...{ successReadAt: null, expectations: [], hand: null, handed: null },
    ...{ looks: [], required: null, activity: noActivity },
  };
}

/**
 * Adds a fact to the fold of an order. Pure; the cost does not depend on how many
 * facts were added before. What the partner expects, and whether orders wait for
 * the chain, is joined apart, by `JoinedFacts`: whenever a fact moves the click id of
 * the latest reading, the beginning or the first success, all that the order may
 * keep has to be joined again.
 */
export function evolveOrder(fold: OrderFold, fact: Fact): OrderFold {
  if (fact.orderId !== fold.orderId) return fold;
  const activity = evolveActivity(fold.activity, fact);
  const next = { ...fold, ...joinedWith(fold, fact), activity };
  if (next.expectations.length === 0) return next;
  const expectations = expectationsOf(next, next.expectations);
  return expectations.length === next.expectations.length
    ? next
    : { ...next, expectations };
}

/** The fields of which a fact says something. */
function joinedWith(fold: OrderFold, fact: Fact): Partial<OrderFold> | null {
  switch (fact.kind) {
    case "webhook": {
      const { claim, body, sessionId, recordedAt: at } = fact;
      const { claims, sessions } = fold;
      return {
        claims: claim === null ? claims : addClaim(claims, claim, at, body),
        transferSeen: fold.transferSeen || fact.label === "transfer_started",
        sessions: sessionId === null
          ? sessions
          : addSession(sessions, sessionId, at),
      };
    }
    case "order_snapshot":
      return shownBy(fold, fact.reading);
    case "order_absent":
      return { absentAt: laterTime(fold.absentAt, fact.readAt) };
    case "order_contradicted":
      return { contradicted: addContradiction(fold.contradicted, fact) };
    case "order_released":
      return evolveHand(fold, fact.hand);
    case "chain_reading":
      return { looks: addLook(fold.looks, fact.look) };
    default:
      return null;
  }
}

function shownBy(fold: OrderFold, reading: OrderReading): Partial<OrderFold> {
  const { status, readAt, createdAt, statedChangedAt } = reading;
  const { plausible, plausibleAt, ahead, statusless, redacted } = fold;
  const shown = {
    seenAt: laterTime(fold.seenAt, readAt),
    createdAt: createdAt === ""
      ? fold.createdAt
      : earlierTime(fold.createdAt, createdAt),
    firstReadAt: earlierTime(fold.firstReadAt, readAt),
    successReadAt: status === "success"
      ? earlierTime(fold.successReadAt, readAt)
      : fold.successReadAt,
  };
  // Without a status it says nothing of the service's history, only of fields.
  if (status === "") {
    const isEarlier = statusless !== null &&
      (compareTimes(readAt, statusless.readAt) ||
          compareWithin(reading, statusless)) <= 0;
    return isEarlier ? shown : { ...shown, statusless: reading };
  }
  const last = (known: OrderReading | null) =>
    known === null || isLater(reading, known) ? reading : known;
  // One whose time of change is none, or lies ahead of it, is kept apart.
  const readings = statedChangedAt === null
    ? {
      ...{ plausible: last(plausible), ahead },
      plausibleAt: laterTime(plausibleAt, readAt),
    }
    : { plausible, ahead: last(ahead), plausibleAt };
  return {
    ...shown,
    ...readings,
    latest: latestReading(readings),
    redacted: reading.match === null ? redacted : last(redacted),
    observedStatuses: addObserved(fold.observedStatuses, reading),
  };
}

/**
 * A, the reading that counts. One whose `changed_at` lies ahead of it has no
 * place in the service's history. It counts until the service is read again
 * with a plausible time: a row that was dated 2099 and then corrected must not
 * lose to the wrong one.
 */
export function latestReading(
  { plausible, plausibleAt, ahead }: Pick<
    OrderFold,
    "plausible" | "plausibleAt" | "ahead"
  >,
): OrderReading | null {
  return ahead !== null &&
      (plausibleAt === null || compareTimes(ahead.readAt, plausibleAt) > 0)
    ? ahead
    : plausible;
}

/**
 * Whether `a` comes after `b` in the service's history. Between two readings
 * that state no time of change, the later reading is the later state.
 */
export function isLater(a: OrderReading, b: OrderReading): boolean {
  const rank = byRank(a, b);
  const read = compareTimes(a.readAt, b.readAt);
  return (compareTimes(a.changedAt, b.changedAt) ||
    (a.changedAt === "" ? read || rank : rank || read) ||
    compareWithin(a, b)) > 0;
}

/** What is kept of a reading when it is erased, and the ids that stay when pruned. */
const KEPT = [
  ...["changedAt", "createdAt", "statedChangedAt", "statedCreatedAt"] as const,
  ...fieldsWith("erasure", "kept"),
];
const NAMES = fieldsWith("erasure", "replaced");
const TX_RANK = { unstated: 0, named: 1, unreadable: 2, empty: 3 } as const;

/**
 * Orders readings of one moment. What is kept when the rest is erased counts
 * first, so that an erasure leaves the order as it was.
 */
function compareWithin(a: OrderReading, b: OrderReading): number {
  return compareFields(a, b, KEPT) ||
    // Of a transaction, how it is stated is kept.
    TX_RANK[statedTransactionForm(a)] - TX_RANK[statedTransactionForm(b)] ||
    compareFields(a, b, NAMES) || compareText(a.digest, b.digest);
}

/** Most unknown statuses of readings that are kept. */
const UNKNOWN_STATUSES_KEPT = 10;

function addObserved(
  observed: OrderFold["observedStatuses"],
  { status, changedAt: at }: OrderReading,
): OrderFold["observedStatuses"] {
  const all = addSorted(observed, { status, first: at, last: at }, {
    compare: (a, b) => byRank(a, b) || compareText(a.status, b.status),
    merge: ({ first, last }) => ({
      status,
      first: earlierTime(first, at),
      last: laterTime(last, at),
    }),
  });
  return boundUnknown(all, (one) => isKnown(one.status), UNKNOWN_STATUSES_KEPT);
}

function byRank(
  a: { readonly status: Status },
  b: { readonly status: Status },
): number {
  return orderRank(a.status) - orderRank(b.status);
}

function addContradiction(
  contradicted: OrderFold["contradicted"],
  { status, upTo }: OrderFold["contradicted"][number],
): OrderFold["contradicted"] {
  // Webhooks claim documented statuses only, so no other can be contradicted.
  return !isKnown(status)
    ? contradicted
    : addSorted(contradicted, { status, upTo }, {
      compare: byRank,
      merge: (known, added) =>
        compareTimes(added.upTo, known.upTo) > 0 ? added : known,
    });
}

function addClaim(
  claims: readonly Claim[],
  status: ClaimedStatus,
  at: string,
  body: ClaimBody | null,
): readonly Claim[] {
  const bodies = body === null ? [] : [body];
  return addSorted(claims, { status, lastAt: at, bodies }, {
    compare: byRank,
    merge: (known) => ({
      status,
      lastAt: laterTime(known.lastAt, at),
      bodies: bodies.reduce(addBody, known.bodies),
    }),
  });
}

/** Most different bodies that are kept of one claimed status. */
const CLAIM_BODIES_KEPT = 4;

/** The ids that a webhook names: kept when its body is pruned. */
const CLAIMED_NAMES = fieldsWith("webhook").filter((field) =>
  orderField(field).erasure === "replaced"
);

/**
 * Keeps each different body once, under its highest digest. A dropped body that
 * arrives again with a higher digest is added again, so the order of arrival
 * does not matter.
 */
function addBody(
  bodies: readonly ClaimBody[],
  body: ClaimBody,
): readonly ClaimBody[] {
  const known = bodies.find((other) =>
    other.digest === body.digest ||
    compareFields(other, body, CLAIM_FIELDS) === 0
  );
  if (known !== undefined && known.digest >= body.digest) return bodies;
  const all = addSorted(bodies.filter((other) => other !== known), body, {
    compare: (b, a) =>
      compareFields(a, b, KEPT_OF_WEBHOOK) ||
      compareFields(a, b, CLAIMED_NAMES) || compareText(a.digest, b.digest),
  });
  if (all.length <= CLAIM_BODIES_KEPT) return all;
  // The lowest that states the same as the one above it in the fields that are kept,
  // else the lowest: so the highest values of those fields are here however many
  // bodies state each of them.
  const repeated = all.findLastIndex((one, at) => {
    const above = all[at - 1];
    return above !== undefined &&
      compareFields(above, one, KEPT_OF_WEBHOOK) === 0;
  });
  return all.toSpliced(repeated === -1 ? all.length - 1 : repeated, 1);
}

/** Most sessions named by webhooks that an order keeps. */
export const SESSIONS_KEPT = 16;

function addSession(
  sessions: OrderFold["sessions"],
  sessionId: string,
  at: string,
): OrderFold["sessions"] {
  const known = sessions.find((one) => one.sessionId === sessionId);
  const firstAt = earlierTime(known?.firstAt ?? null, at);
  const others = sessions.filter((one) => one !== known);
  return addSorted(others, { sessionId, firstAt }, {
    compare: (a, b) =>
      compareTimes(a.firstAt, b.firstAt) ||
      compareText(a.sessionId, b.sessionId),
  }).slice(0, SESSIONS_KEPT);
}

function addLook(
  looks: readonly ChainReading[],
  added: ChainReading,
): readonly ChainReading[] {
  const all = [...looks, added];
  const last = [latestLook(all.filter((one) => one.final)), latestLook(all)];
  return [...new Set(last)].filter((one) => one !== null);
}
