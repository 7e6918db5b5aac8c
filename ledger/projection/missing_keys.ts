import type { ExpectationWindow } from "../events/expectation.ts";
import { askedAtOf, validUntil } from "../events/expectation.ts";
import { isExpectation } from "../events/fact.ts";
import { expectationLinks, type Link, linkKey } from "../events/links.ts";
import { expectationWindow, sameWindow } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import type { BatchEvent } from "./batch.ts";

/** What has to be loaded before a batch can be folded. */
export interface MissingKeys {
  /** Orders whose folds are not known. */
  readonly orders: Set<string>;
  /** Users whose folds are not known. */
  readonly users: Set<string>;
  /** Links whose orders are not known, and the earliest expectation of each. */
  readonly ordersOf: Map<string, LinkOfExpectation>;
  /**
   * References of new expectations, and when the earliest of each was asked for:
   * what was recorded before and was asked for later counts in its place.
   */
  readonly termsOf: Map<string, string>;
}

/** A link of new expectations. */
export interface LinkOfExpectation extends Link {
  /** When the earliest of them was asked for, UTC ISO 8601. */
  readonly askedAt: string;
  /** When the first of them expires, UTC ISO 8601. */
  readonly validUntil: string;
}

/**
 * Lists what a batch needs to know.
 *
 * @param events The batch.
 */
export function missingKeys(events: readonly BatchEvent[]): MissingKeys {
  const missing: MissingKeys = {
    orders: new Set(),
    users: new Set(),
    ordersOf: new Map(),
    termsOf: new Map(),
  };
  for (const { fact } of events) {
    if (fact.orderId !== null) missing.orders.add(fact.orderId);
    if (fact.userId !== null) missing.users.add(fact.userId);
    if (!isExpectation(fact)) continue;
    const { expectation } = fact;
    const askedAt = askedAtOf(expectation);
    const until = validUntil(expectation);
    for (const link of expectationLinks(expectation)) {
      const key = linkKey(link);
      const other = missing.ordersOf.get(key);
      missing.ordersOf.set(key, {
        ...link,
        askedAt: earlier(other?.askedAt, askedAt),
        validUntil: earlier(other?.validUntil, until),
      });
    }
    const { reference } = expectation;
    if (reference === null) continue;
    const first = earlier(missing.termsOf.get(reference), askedAt);
    missing.termsOf.set(reference, first);
  }
  return missing;
}

/**
 * Whether anything has to be loaded.
 *
 * @param missing What a batch needs to know.
 */
export function isAnyMissing(missing: MissingKeys): boolean {
  return Object.values(missing).some(({ size }) => size > 0);
}

/**
 * Where to look for expectations of the orders of a batch: wherever one of its
 * readings moves the latest click id or the beginning of an order.
 *
 * @param events The batch.
 * @param orders The orders before it.
 */
export function movedWindows(
  events: readonly BatchEvent[],
  orders: ReadonlyMap<string, OrderFold>,
): ExpectationWindow[] {
  const found = new Map<string, ExpectationWindow>();
  const folds = new Map<string, OrderFold>();
  for (const { fact } of events) {
    if (fact.kind !== "order_snapshot" || fact.orderId === null) continue;
    const { orderId } = fact;
    const before = folds.get(orderId) ?? orders.get(orderId) ??
      initialOrderFold(orderId);
    const after = evolveOrder(before, fact);
    folds.set(orderId, after);
    const window = expectationWindow(after);
    if (window === null || sameWindow(window, expectationWindow(before))) {
      continue;
    }
    found.set(`${window.from} ${window.clickId}`, window);
  }
  return [...found.values()];
}

function earlier(a: string | undefined, b: string): string {
  return a === undefined || b < a ? b : a;
}
