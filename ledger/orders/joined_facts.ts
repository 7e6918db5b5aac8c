import type { WitnessRule } from "../../core/chain/witness_rule.ts";
import {
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  type ExpectationWindow,
  purchaseKey,
  validUntil,
} from "../events/expectation.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { compareTimes } from "../events/time.ts";
import type { WitnessRuleChange } from "../events/witness_rule.ts";
import { compareText } from "../machines/sorted_list.ts";
import {
  beganBy,
  candidatesOf,
  compareExpectations,
  compareExpiry,
  expectationsOf,
  expectationWindow,
  type ExpectedOrder,
} from "./expectations.ts";
import type { OrderFold } from "./order_fold.ts";

/**
 * Facts that name no order and concern some: what the partner expects, and
 * whether orders wait for the chain.
 */
export class JoinedFacts {
  readonly #expectations = new ExpectationPool();
  readonly #rules = new WitnessRules();

  /** Adds a fact, once. */
  add(fact: Fact): boolean {
    if (isExpectation(fact)) this.#expectations.add(fact.expectation);
    else if (isWitnessRule(fact)) this.#rules.add(fact.change);
    else return false;
    return true;
  }

  /**
   * Joins an order with what concerns it. Joining twice changes nothing. Gives the same
   * object where nothing changes.
   */
  join(order: OrderFold): OrderFold {
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

  /** Adds an expectation, once. */
  add(expectation: Expectation): void {
    const { clickId } = expectation;
    if (clickId !== null) {
      insert(listOf(this.#ofClick, clickId), expectation, compareExpiry);
    }
    const ofPurchase = listOf(this.#ofPurchase, purchaseKey(expectation));
    insert(ofPurchase, expectation, compareExpectations);
  }

  /**
   * Joins an order with what is expected of it. Joining twice changes nothing. Gives the
   * same object where nothing changes.
   */
  join<Order extends ExpectedOrder>(order: Order): Order {
    const own = order.expectations;
    const window = expectationWindow(order);
    const all = window === null ? own : union(own, this.#firstToExpire(window));
    const terms = window === null
      ? []
      : candidatesOf(order, all).flatMap((candidate) =>
        this.#lastAskedFor(candidate, window) ?? []
      );
    const expectations = expectationsOf(order, union(all, terms));
    return expectations.length === own.length &&
        expectations.every((one, at) => isSame(one, own[at]))
      ? order
      : { ...order, expectations };
  }

  /** At most as many of a click id as an order keeps. */
  #firstToExpire({ clickId, from, until }: ExpectationWindow): Expectation[] {
    const all = this.#ofClick.get(clickId) ?? [];
    const first = firstWhere(all, (one) => validUntil(one) >= from);
    const found: Expectation[] = [];
    for (let at = first; at < all.length; at++) {
      if (found.length === CANDIDATES_KEPT) break;
      const one = all[at] as Expectation;
      if (askedAtOf(one) <= until) found.push(one);
    }
    return found;
  }

  #lastAskedFor(
    of: Expectation,
    { termsUntil }: ExpectationWindow,
  ): Expectation | undefined {
    const all = this.#ofPurchase.get(purchaseKey(of)) ?? [];
    return all[firstWhere(all, (one) => askedAtOf(one) > termsUntil) - 1];
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

  /** Adds a change, once. */
  add(change: WitnessRuleChange): void {
    insert(this.#changes, change, compareChanges);
  }

  /** The rule for orders that begin at a time. */
  at(time: string): WitnessRule {
    return this.#changes.findLast(({ from }) => compareTimes(from, time) <= 0)
      ?.rule ?? "off";
  }

  /**
   * Joins an order with its rule. Joining twice changes nothing. Gives the same object
   * where nothing changes.
   */
  join(order: OrderFold): OrderFold {
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
  if (list.length === 0) lists.set(key, list);
  return list;
}

/** Inserts once. Most come in their order, so that the place is near the end. */
function insert<Entry>(
  list: Entry[],
  added: Entry,
  compare: (a: Entry, b: Entry) => number,
): void {
  let at = list.length;
  for (; at > 0; at--) {
    const order = compare(list[at - 1] as Entry, added);
    if (order === 0) return;
    if (order < 0) break;
  }
  list.splice(at, 0, added);
}
