/** What the partner expects of an order, and whether it waits for the chain. */
import type { WitnessRule } from "../../core/chain/verdict.ts";
import {
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  purchaseKey,
  validUntil,
  type WitnessRuleChange,
} from "../events/event.ts";
import { compareTimes, earlierTime, laterTime } from "../events/time.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import type { OrderReading } from "../events/readings.ts";
import { compareText } from "../machines/machine.ts";

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

/** What decides which expectations an order keeps, and whether it waits. */
export interface ExpectedOrder {
  /** The earliest effective creation time that readings state; null without. */
  readonly createdAt: string | null;
  /** The earliest effective time of its readings; null without any. */
  readonly firstReadAt: string | null;
  /** The earliest effective time of its readings that show success. */
  readonly successReadAt: string | null;
  readonly latest: Pick<OrderReading, "clickId" | "status"> | null;
  /** Earliest first. */
  readonly expectations: readonly Expectation[];
  /** Of a success, the rule by which it waits for the chain; null where it does not. */
  readonly required: Exclude<WitnessRule, "off"> | null;
}

/**
 * Latest time at which an order can have begun, by its readings alone: no
 * webhook may move it. Null before the first reading; afterwards it only moves
 * back.
 */
export function beganBy(
  { createdAt, firstReadAt }: Pick<ExpectedOrder, "createdAt" | "firstReadAt">,
): string | null {
  return createdAt === null ? firstReadAt : earlierTime(firstReadAt, createdAt);
}

export interface ExpectationWindow {
  readonly clickId: string;
  /** They are valid at this time or later, UTC ISO 8601 with milliseconds. */
  readonly from: string;
  /** They were asked for until this time, likewise. */
  readonly until: string;
  /** Until when terms of their purchases count, likewise. */
  readonly termsUntil: string;
}

/**
 * How to find the expectations of an order. Null before the first reading, and
 * where it has no click id.
 */
export function expectationWindow(
  order: ExpectedOrder | undefined,
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
    // The tilde comes after every time.
    termsUntil: successReadAt === null
      ? "~"
      : laterTime(until, movedBy(successReadAt, 0)),
  };
}

/** `until` follows from the beginning. */
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
  const found = all.filter((one) =>
    one.clickId === window.clickId && askedAtOf(one) <= window.until &&
    validUntil(one) >= window.from
  );
  if (found.length <= CANDIDATES_KEPT) return found;
  // By when they expire, so that an index leads to them past expired ones.
  return found.toSorted(compareExpiry).slice(0, CANDIDATES_KEPT)
    .sort(compareExpectations);
}

/**
 * What was asked for last of the purchases of candidates, until success was first
 * read: a basket may grow after the widget was opened, under whatever click id.
 */
export function termsOf(
  order: ExpectedOrder,
  candidates: readonly Expectation[],
  all: readonly Expectation[] = order.expectations,
): readonly Expectation[] {
  const until = expectationWindow(order)?.termsUntil ?? "";
  const terms = candidates.map((candidate) => {
    const key = purchaseKey(candidate);
    return all.findLast((one) =>
      purchaseKey(one) === key && askedAtOf(one) <= until
    ) ?? candidate;
  });
  return [...new Set(terms)].sort(compareExpectations);
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
  return candidates.length > CANDIDATES_COMPARED
    ? candidates
    : union(candidates, termsOf(order, candidates, all));
}

export function compareExpectations(a: Expectation, b: Expectation): number {
  return compareText(askedAtOf(a), askedAtOf(b)) ||
    compareText(a.recordedAt, b.recordedAt) || compareText(a.id, b.id) ||
    compareText(JSON.stringify(a), JSON.stringify(b));
}

function compareExpiry(a: Expectation, b: Expectation): number {
  return compareText(validUntil(a), validUntil(b)) || compareExpectations(a, b);
}

/** Facts that name no order and concern some. */
export class JoinedFacts {
  readonly #expectations = new ExpectationPool();
  readonly #rules = new WitnessRules();

  /** Returns whether the fact is one of these. */
  add(fact: Fact): boolean {
    if (isExpectation(fact)) this.#expectations.add(fact.expectation);
    else if (isWitnessRule(fact)) this.#rules.add(fact.change);
    else return false;
    return true;
  }

  /** Gives the same object where nothing changes, as it is when joined again. */
  join<Order extends ExpectedOrder>(order: Order): Order {
    return this.#rules.join(this.#expectations.join(order));
  }
}

/**
 * Expectations by click id and by purchase. An order has to be joined with all
 * of those that it may keep at once: one alone may be dropped before another
 * makes it count.
 */
export class ExpectationPool {
  /** By click id, those that expire first first. */
  readonly #ofClick = new Map<string, Expectation[]>();
  /** By purchase, those that were asked for first first. */
  readonly #ofPurchase = new Map<string, Expectation[]>();

  add(expectation: Expectation): void {
    const { clickId } = expectation;
    if (clickId !== null) {
      insert(listOf(this.#ofClick, clickId), expectation, compareExpiry);
    }
    const ofPurchase = listOf(this.#ofPurchase, purchaseKey(expectation));
    insert(ofPurchase, expectation, compareExpectations);
  }

  /** Gives the same object where nothing changes, as it is when joined again. */
  join<Order extends ExpectedOrder>(order: Order): Order {
    const own = order.expectations;
    const window = expectationWindow(order);
    let all = own;
    if (window !== null) {
      const { clickId, from, until, termsUntil } = window;
      const ofClick = this.#ofClick.get(clickId) ?? [];
      const first = firstWhere(ofClick, (one) => validUntil(one) >= from);
      // At most as many of a click id as an order keeps.
      const found = ofClick.values().drop(first)
        .filter((one) => askedAtOf(one) <= until).take(CANDIDATES_KEPT);
      all = union(own, [...found]);
      const terms = candidatesOf(order, all).flatMap((candidate) => {
        const asked = this.#ofPurchase.get(purchaseKey(candidate)) ?? [];
        const after = firstWhere(asked, (one) => askedAtOf(one) > termsUntil);
        return asked[after - 1] ?? [];
      });
      all = union(all, terms);
    }
    const expectations = expectationsOf(order, all);
    return expectations.length === own.length &&
        expectations.every((one, at) => isSame(one, own[at]))
      ? order
      : { ...order, expectations };
  }
}

/** Place of the first for which a test holds that then holds for all after. */
function firstWhere(
  sorted: readonly Expectation[],
  holds: (one: Expectation) => boolean,
): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle] as Expectation)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The expectations of both lists, each once, earliest first. */
function union(
  a: readonly Expectation[],
  b: readonly Expectation[],
): readonly Expectation[] {
  if (b.length === 0) return a;
  return [...a, ...b].sort(compareExpectations).filter((one, at, all) =>
    !isSame(one, all[at - 1])
  );
}

function isSame(a: Expectation, b: Expectation | undefined): boolean {
  return b !== undefined && compareExpectations(a, b) === 0;
}

/**
 * Whether orders wait for the chain, by when they began. A success keeps the
 * rule of its beginning: a later rule changes no earlier order.
 */
export class WitnessRules {
  /** By when they hold from; of one moment the one recorded last counts. */
  readonly #changes: WitnessRuleChange[] = [];

  add(change: WitnessRuleChange): void {
    insert(this.#changes, change, compareChanges);
  }

  at(time: string): WitnessRule {
    return this.#changes.findLast(({ from }) => compareTimes(from, time) <= 0)
      ?.rule ?? "off";
  }

  /** Gives the same object where nothing changes, as it is when joined again. */
  join<Order extends ExpectedOrder>(order: Order): Order {
    const began = order.latest?.status === "success" ? beganBy(order) : null;
    const rule = began === null ? "off" : this.at(began);
    const required = rule === "off" ? null : rule;
    return required === order.required ? order : { ...order, required };
  }
}

function compareChanges(a: WitnessRuleChange, b: WitnessRuleChange): number {
  return compareTimes(a.from, b.from) ||
    compareText(a.recordedAt, b.recordedAt) || compareText(a.digest, b.digest);
}

function listOf(
  lists: Map<string, Expectation[]>,
  key: string,
): Expectation[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Inserts once. Most come in their order, so that the place is near the end. */
function insert<Entry>(
  list: Entry[],
  added: Entry,
  compare: (a: Entry, b: Entry) => number,
): void {
  const last = list.findLastIndex((one) => compare(one, added) <= 0);
  const known = list[last];
  if (known !== undefined && compare(known, added) === 0) return;
  list.splice(last + 1, 0, added);
}
