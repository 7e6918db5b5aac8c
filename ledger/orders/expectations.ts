import {
  ALWAYS,
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  type ExpectationWindow,
  purchaseKey,
  validUntil,
} from "../events/expectation.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { compareTimes, earlierTime, laterTime } from "../events/time.ts";
import {
  addSorted,
  compareText,
  type ListRule,
} from "../machines/sorted_list.ts";

/**
 * Most expectations under one click id that an order is compared with. If more
 * were recorded before the order, the partner gives one click id to many
 * customers, and the click id identifies nothing.
 */
export const CANDIDATES_COMPARED: number = CANDIDATES_KEPT - 1;

/**
 * An expectation is recorded before its order, but by two clocks, and the
 * partner may take a moment to record it.
 */
const toleranceMs = 5 * 60_000;

/** What decides when an order began. */
export interface Beginning {
  /** The earliest effective creation time that readings state; null without. */
  readonly createdAt: string | null;
  /** The earliest effective time of its readings; null without any. */
  readonly firstReadAt: string | null;
}

/** What decides which expectations an order keeps. */
export interface ExpectedOrder extends Beginning {
  /** The earliest effective time of its readings that show success. */
  readonly successReadAt: string | null;
  /** A, the latest reading. */
  readonly latest: Pick<OrderReading, "clickId"> | null;
  /** Expectations kept, earliest first. */
  readonly expectations: readonly Expectation[];
}

/**
 * Latest time at which an order can have begun, by its readings alone: no
 * webhook may move it. Null before the first reading; afterwards it only moves
 * back.
 */
export function beganBy({ createdAt, firstReadAt }: Beginning): string | null {
  return createdAt === null ? firstReadAt : earlierTime(firstReadAt, createdAt);
}

/**
 * How to find the expectations of an order. Null before the first reading, and
 * where it has no click id.
 */
export function expectationWindow(
  order: Omit<ExpectedOrder, "expectations"> | undefined,
): ExpectationWindow | null {
  const clickId = order?.latest?.clickId ?? "";
  const began = order === undefined ? null : beganBy(order);
  if (order === undefined || clickId === "" || began === null) return null;
  const until = movedBy(began, toleranceMs);
  const { successReadAt } = order;
  return {
    clickId,
    from: movedBy(began, 0),
    until,
    termsUntil: successReadAt === null
      ? ALWAYS
      : laterTime(until, movedBy(successReadAt, 0)),
  };
}

/**
 * The same, when neither the click id of the latest reading, nor the beginning,
 * nor the time of the first success changed.
 */
export function sameWindow(
  a: ExpectationWindow | null,
  b: ExpectationWindow | null,
): boolean {
  return a?.clickId === b?.clickId && a?.from === b?.from &&
    a?.termsUntil === b?.termsUntil;
}

/**
 * Orders that began before this time are older than an expectation; it is early
 * enough to be compared as text with times of any number of decimals.
 */
export function firstOrderAfter(askedAt: string): string {
  return Number.isNaN(Date.parse(askedAt))
    ? ""
    : movedBy(askedAt, -toleranceMs - 1000);
}

function movedBy(time: string, ms: number): string {
  const moved = new Date(Date.parse(time) + ms);
  return Number.isNaN(moved.getTime()) ? time : moved.toISOString();
}

/**
 * The expectations that can be the order's own: recorded under the click id that A
 * shows, not after the order began, and valid then. Nothing that a webhook says has
 * a part in it. Earliest first, and no more than {@linkcode CANDIDATES_KEPT}: those
 * that expire first.
 */
export function candidatesOf(
  order: ExpectedOrder,
  all: readonly Expectation[] = order.expectations,
): readonly Expectation[] {
  const window = all.length === 0 ? null : expectationWindow(order);
  if (window === null) return [];
  const { clickId, from, until } = window;
  const found = all.filter((one) =>
    one.clickId === clickId && askedAtOf(one) <= until &&
    validUntil(one) >= from
  );
  if (found.length <= CANDIDATES_KEPT) return found;
  // By when they expire, so that an index leads to them past expired ones.
  return found.toSorted(compareExpiry).slice(0, CANDIDATES_KEPT)
    .sort(compareExpectations);
}

/** Orders expectations by when they expire. */
export function compareExpiry(a: Expectation, b: Expectation): number {
  return compareText(validUntil(a), validUntil(b)) || compareExpectations(a, b);
}

/**
 * What was asked for last of a purchase, until success was first read: a basket may
 * grow after the widget was opened, under whatever click id.
 */
export function latestTerms(
  order: ExpectedOrder,
  of: Expectation,
  all: readonly Expectation[] = order.expectations,
): Expectation | undefined {
  const until = expectationWindow(order)?.termsUntil ?? "";
  const key = purchaseKey(of);
  return all.findLast((one) =>
    purchaseKey(one) === key && askedAtOf(one) <= until
  );
}

/**
 * The expectations that an order keeps: its candidates, and the terms of their
 * purchases that count. Of more candidates than can be compared no terms.
 */
export function expectationsOf(
  order: ExpectedOrder,
  all: readonly Expectation[],
): readonly Expectation[] {
  const candidates = candidatesOf(order, all);
  if (candidates.length === 0 || candidates.length > CANDIDATES_COMPARED) {
    return candidates;
  }
  const kept = new Set(candidates);
  for (const candidate of candidates) {
    const terms = latestTerms(order, candidate, all);
    if (terms !== undefined) kept.add(terms);
  }
  return kept.size === candidates.length
    ? candidates
    : [...kept].sort(compareExpectations);
}

/** Orders expectations by when they were asked for, then by what they say. */
export function compareExpectations(a: Expectation, b: Expectation): number {
  return compareText(askedAtOf(a), askedAtOf(b)) ||
    compareText(a.recordedAt, b.recordedAt) || compareText(a.id, b.id) ||
    compareText(JSON.stringify(a), JSON.stringify(b));
}

/** Most sessions named by webhooks that an order keeps. */
export const SESSIONS_KEPT = 16;

/** A session that webhooks of an order name. */
export interface NamedSession {
  /** Session identifier. */
  readonly sessionId: string;
  /** `recordedAt` of the first webhook that named it. */
  readonly firstAt: string;
}

/**
 * Adds a session that a webhook names. Those named first are kept, so that
 * a forged webhook cannot push them out later.
 */
export function addSession(
  sessions: readonly NamedSession[],
  sessionId: string,
  recordedAt: string,
): readonly NamedSession[] {
  const known = sessions.find((one) => one.sessionId === sessionId);
  const firstAt = earlierTime(known?.firstAt ?? null, recordedAt);
  if (known?.firstAt === firstAt) return sessions;
  const others = sessions.filter((one) => one !== known);
  return addSorted(others, { sessionId, firstAt }, sessionRule)
    .slice(0, SESSIONS_KEPT);
}

const sessionRule: ListRule<NamedSession> = {
  compare: (a, b) =>
    compareTimes(a.firstAt, b.firstAt) || compareText(a.sessionId, b.sessionId),
};
