import type { BudgetRules, Lane } from "./rate_budget.ts";
import { LANES } from "./rate_budget.ts";

/** Items of one page: the most the Data API gives. Source: "Limits". */
export const ITEMS_PER_REQUEST = 20;

/** How much there is to look after. */
export interface WorkCounts {
  /** Orders the service has shown. */
  readonly orders: number;
  /** Users the service has shown. */
  readonly users: number;
  /** Orders that are not final, or contested. */
  readonly openOrders: number;
  /** Orders and users waiting for a confirming read. */
  readonly waiting: number;
  /** Orders created within the overlap of the new sweep. */
  readonly ordersInOverlap: number;
}

/** When sweeps start, whatever the rate. */
export interface SweepPeriods {
  /** Pause between two looks for new orders, in milliseconds. */
  readonly followEveryMs: number;
  /** Pause between two looks into the queue of webhooks, in milliseconds. */
  readonly confirmEveryMs: number;
  /** Pause between two looks for open orders that are due, in milliseconds. */
  readonly openEveryMs: number;
  /** Shortest time between two asks of the same open order, in milliseconds. */
  readonly openAtLeastMs: number;
  /** Shortest time of one cycle of the deep sweep, in milliseconds. */
  readonly deepCycleAtLeastMs: number;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
}

/**
 * How old the ledger's word can be, at worst, while the service answers: all
 * in milliseconds. Time is what the guaranteed shares need when every sweep is
 * busy; with idle sweeps it is less.
 */
export interface StalenessBound {
  /** From an order's creation to the ledger knowing it. */
  readonly newOrderMs: number;
  /** From a webhook to the confirming read. */
  readonly namedByWebhookMs: number;
  /** From a change of a fresh open order to the ledger knowing it. */
  readonly openOrderMs: number;
  /** From a change of any order or user, however old, to the ledger knowing it. */
  readonly anythingMs: number;
}

/**
 * Computes how stale the ledger can be from rate, shares and counts.
 *
 * Each sweep is one queue served at its guaranteed rate: what arrives just
 * after a round began waits for that round and the next.
 *
 * @param rules The rate and how it is divided.
 * @param periods When sweeps start.
 * @param counts How much there is to look after.
 *
 * @example A small partner
 * ```ts
 * import { DEFAULT_PERIODS, DEFAULT_RULES, stalenessBound } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const bound = stalenessBound(DEFAULT_RULES, DEFAULT_PERIODS, {
 *   orders: 5000,
 *   users: 900,
 *   openOrders: 12,
 *   waiting: 0,
 *   ordersInOverlap: 3,
 * });
 * assert.ok(bound.namedByWebhookMs < 10_000);
 * assert.ok(bound.anythingMs < 2 * 3_600_000);
 * ```
 */
export function stalenessBound(
  rules: BudgetRules,
  periods: SweepPeriods,
  counts: WorkCounts,
): StalenessBound {
  const parts = LANES.reduce((sum, lane) => sum + rules.shares[lane], 0);
  const takesMs = (lane: Lane, requests: number): number =>
    Math.ceil(
      requests * 1000 * parts / (rules.requestsPerSecond * rules.shares[lane]),
    );
  // A walk ends on an empty page, and users are walked beside the orders.
  const follow = takesMs("new", pages(counts.ordersInOverlap) + 1 + 2);
  const confirm = takesMs("confirm", pages(counts.waiting) + 2);
  const open = takesMs("open", pages(counts.openOrders) * 2);
  const deep = takesMs("deep", deepRequests(counts, periods.itemsPerWindow));
  return {
    newOrderMs: periods.followEveryMs + 2 * follow,
    namedByWebhookMs: periods.confirmEveryMs + 2 * confirm,
    openOrderMs: periods.openAtLeastMs + periods.openEveryMs + 2 * open,
    anythingMs: Math.max(periods.deepCycleAtLeastMs, deep) + deep,
  };
}

/** Requests of one whole cycle of the deep sweep. */
function deepRequests(counts: WorkCounts, itemsPerWindow: number): number {
  const windows = (items: number): number =>
    Math.max(1, Math.ceil(4 * items / itemsPerWindow));
  const walk = (items: number): number => pages(items) + 2 * windows(items);
  return walk(counts.orders) + walk(counts.users);
}

function pages(items: number): number {
  return Math.max(1, Math.ceil(items / ITEMS_PER_REQUEST));
}
