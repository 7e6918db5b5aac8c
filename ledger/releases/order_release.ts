/** The release of an order, and whether it had been so before the ledger went live. */
import { type PurchaseName, purchaseOf } from "../events/expectation.ts";
import {
  type StandingOutcome,
  standingOutcome,
} from "../events/hand_release.ts";
import type { Status, Trust } from "../machines/transition.ts";
import {
  decideOrderStatus,
  type ResolveOptions,
} from "../orders/order_status.ts";
import { factsOfOrder } from "../outcomes/facts_of_order.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { outcomeOf } from "../outcomes/outcome.ts";
import type { OutcomeRow } from "../outcomes/outcome_table.ts";
import type { Fact } from "../events/fact.ts";
import { isFinal } from "../machines/order_machine.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_fold.ts";

/** Release of an order, by the facts known so far. */
export interface OrderRelease extends Pick<OutcomeRow, "release" | "reason"> {
  readonly status: Status;
  readonly trust: Trust;
  /** What the order pays for; null unless an expectation matched. */
  readonly purchase: PurchaseName | null;
  readonly expectedAt: string | null;
  /** What a person settled of the order; null where nothing stands. */
  readonly byHand: StandingOutcome | null;
}

/**
 * The release of an order by its row, where there is one to log: the log begins
 * with the first reading of a success, or with what a person did about the order.
 */
export function orderRelease(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): OrderRelease | null {
  if (fold.successReadAt === null && fold.hand === null) return null;
  const { match, expected } = matchExpectations(fold, assets);
  const { release, reason } = outcomeOf(factsOfOrder(fold, match));
  const { status, trust } = decideOrderStatus(fold);
  const matched = match === "matched" ? expected : null;
  return {
    ...{ release, reason, status, trust },
    purchase: matched && purchaseOf(matched),
    expectedAt: matched?.recordedAt ?? null,
    byHand: standingOutcome(fold.hand),
  };
}

/** The purchase that an order matches; null where it matches none. */
export function matchedPurchase(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): PurchaseName | null {
  const { match, expected } = matchExpectations(fold, assets);
  return match === "matched" ? expected && purchaseOf(expected) : null;
}

/** When a ledger was made, and when it went live. */
export interface LedgerTimes {
  readonly createdAt: string;
  /** From when on transitions are sent; null before it has one. */
  readonly goLive: string | null;
}

/**
 * The service's clock may be a second behind ours, and it states whole seconds.
 * Nothing ends within so short a time.
 */
const TOLERANCE_MS = 2000;

/** How long successes that nothing was recorded for are listed, ms. */
const LISTED_MS = 14 * 24 * 3_600_000;

/**
 * Whether what the first reading of an order shows had ended before the ledger
 * went live, and nothing that was recorded in this ledger expects it. A later
 * reading is never historic, and no claim is.
 */
export function isHistoricOrder(
  fact: Fact,
  before: OrderFold | undefined,
  decided: OrderRelease | null,
  { createdAt, goLive }: LedgerTimes,
): boolean {
  const expectedAt = decided?.expectedAt ?? null;
  return goLive !== null && fact.kind === "order_snapshot" &&
    (before?.seenAt ?? null) === null && isFinal(fact.reading.status) &&
    isBefore(fact.reading.createdAt, goLive) &&
    // What was recorded elsewhere and imported, somebody else waited for.
    (expectedAt === null || expectedAt < createdAt);
}

/**
 * Whether a historic order is listed once for a person: a success of the last
 * fourteen days that is nobody's purchase.
 */
export function isListed(
  fact: Fact,
  decided: OrderRelease | null,
  goLive: string,
): boolean {
  if (fact.kind !== "order_snapshot") return false;
  const { status, changedAt, createdAt } = fact.reading;
  const atMs = Date.parse(changedAt || createdAt);
  return status === "success" && decided?.release !== "yes" &&
    atMs >= Date.parse(goLive) - LISTED_MS;
}

/**
 * Whether the first reading of a user shows one who was there before the ledger
 * went live.
 */
export function isHistoricUser(
  fact: Fact,
  before: UserFold | undefined,
  { goLive }: LedgerTimes,
): boolean {
  return goLive !== null && fact.kind === "user_snapshot" &&
    (before?.latest ?? null) === null &&
    isBefore(fact.reading.createdAt ?? "", goLive);
}

function isBefore(createdAt: string, goLive: string): boolean {
  const ms = Date.parse(createdAt);
  const liveMs = Math.floor(Date.parse(goLive) / 1000) * 1000;
  return !Number.isNaN(ms) && ms < liveMs - TOLERANCE_MS;
}

/** Orders that ended, and users known, before a ledger went live. */
export interface Historic {
  /** How many orders: booked, but not sent to handlers or targets. */
  readonly orders: number;
  /** How many users whose transitions were not sent. */
  readonly users: number;
  /** Successes among the orders that a person may want to look at. */
  readonly listed: number;
}

/** Counting walks all of them, so it is not done after each fold. */
const LOOK_EVERY_MS = 60_000;

/**
 * Reports once how many orders and users were withheld because they are from
 * before the ledger went live: when their number has grown, and stands still
 * for a minute.
 */
export function historyReport(
  { read, report, now }: {
    readonly read: () => Promise<Historic>;
    readonly report: (historic: Historic) => void;
    readonly now: () => number;
  },
): () => Promise<void> {
  let lookedAtMs = -Infinity;
  let last = 0;
  let reported: number | null = null;
  return async () => {
    const nowMs = now();
    if (Math.abs(nowMs - lookedAtMs) < LOOK_EVERY_MS) return;
    const historic = await read();
    lookedAtMs = nowMs;
    const before = last;
    last = historic.orders + historic.users;
    reported ??= last;
    if (last !== before || last <= reported) return;
    reported = last;
    report(historic);
  };
}
