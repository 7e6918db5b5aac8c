import {
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  type ExpectationWindow,
  purchaseKey,
  validUntil,
} from "../events/expectation.ts";
import {
  candidatesOf,
  compareExpectations,
  compareExpiry,
  expectationsOf,
  expectationWindow,
  type ExpectedOrder,
} from "./expectations.ts";

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
      insert(this.#ofClick, clickId, expectation, compareExpiry);
    }
    const key = purchaseKey(expectation);
    insert(this.#ofPurchase, key, expectation, compareExpectations);
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

/** Most come in their order, so that the place is near the end. */
function insert(
  lists: Map<string, Expectation[]>,
  key: string,
  expectation: Expectation,
  compare: (a: Expectation, b: Expectation) => number,
): void {
  const list = lists.get(key);
  if (list === undefined) {
    lists.set(key, [expectation]);
    return;
  }
  let at = list.length;
  for (; at > 0; at--) {
    const order = compare(list[at - 1] as Expectation, expectation);
    if (order === 0) return;
    if (order < 0) break;
  }
  list.splice(at, 0, expectation);
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
