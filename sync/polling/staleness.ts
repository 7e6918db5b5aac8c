import { type ShareRules, SWEEP_KINDS, type SweepKind } from "./fair_share.ts";
import { ONE_IN } from "./request_turns.ts";

/** Shortest time between two confirming reads of the same id, in ms. */
export const CONFIRM_AT_LEAST_MS = 10_000;

/** Items of one page: the most the Data API gives. Source: "Limits". */
export const ITEMS_PER_REQUEST = 20;

/**
 * Places of a request that urgent ids leave to others that wait, so that nobody
 * can delay those without end.
 */
export const PLACES_FOR_OTHERS = ITEMS_PER_REQUEST / 2;

/** How much there is to look after. */
export interface WorkCounts {
  /** Orders the service has shown. */
  readonly orders: number;
  /** Users the service has shown. */
  readonly users: number;
  /** Orders that are not final, or contested. */
  readonly openOrders: number;
  /** Of these, the ones that the service has never shown. */
  readonly openUnknown: number;
  /** Orders that lately became final and are read again a few times. */
  readonly recentlyFinal: number;
  /** Orders and users waiting for a confirming read. */
  readonly waiting: number;
  /** Of these, the ones that the service has never shown. */
  readonly waitingUnknown: number;
  /** Users that the service has shown and that wait. */
  readonly waitingUsers: number;
  /**
   * Orders that the service has shown and that a webhook was the first to claim
   * a status: they are not delayed by a pause, and come first.
   */
  readonly waitingUrgent: number;
  /** Orders created within the overlap of the new sweep. */
  readonly ordersInOverlap: number;
}

/** When sweeps start, whatever the rate. */
export interface SweepPeriods {
  /** Pause between two looks for new orders, in milliseconds. */
  readonly followEveryMs: number;
  /** Pause between two looks into the queue of webhooks, in milliseconds. */
  readonly confirmEveryMs: number;
  /** Shortest time between two confirming reads of the same id, in ms. */
  readonly confirmAtLeastMs: number;
  /** Pause between two looks for open orders that are due, in milliseconds. */
  readonly openEveryMs: number;
  /** Shortest time between two requests of the same open order, in ms. */
  readonly openAtLeastMs: number;
  /** Pause between two cycles of the deep sweep, in milliseconds. */
  readonly deepCycleAtLeastMs: number;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
}

/**
 * How old the ledger's information can be at most while the service answers,
 * all in milliseconds. The bounds assume that every sweep uses its guaranteed
 * share; with idle sweeps it is less.
 */
export interface StalenessBound {
  /** From an order's creation to the ledger knowing it. */
  readonly newOrderMs: number;
  /**
   * From the first webhook that claims a status of an order to the confirming
   * read, of orders that the service has shown. While the rate is not used up it
   * is one request, or up to a second more where another process folds.
   */
  readonly firstClaimMs: number;
  /**
   * From any other webhook to the confirming read, of orders and users that the
   * service has shown: invented ids do not lengthen it. An order that only a
   * webhook has named so far is shown within `newOrderMs`. Repeated webhooks
   * for the same one, with nothing changed, lengthen it by ten minutes.
   */
  readonly namedByWebhookMs: number;
  /** From a change of a fresh open order to the ledger knowing it. */
  readonly openOrderMs: number;
  /**
   * How much later than 10 min, 1 h, 6 h, 1 day and 3 days after an order became
   * final it is read again: a payment that was taken back is found then.
   */
  readonly recentlyFinalMs: number;
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
 * import { DEFAULT_PERIODS, DEFAULT_RULES } from "./poller_settings.ts";
 * import { stalenessBound } from "./staleness.ts";
 * import assert from "node:assert/strict";
 *
 * const bound = stalenessBound(DEFAULT_RULES, DEFAULT_PERIODS, {
 *   orders: 5000,
 *   users: 900,
 *   openOrders: 12,
 *   openUnknown: 0,
 *   recentlyFinal: 4,
 *   waiting: 0,
 *   waitingUnknown: 0,
 *   waitingUsers: 0,
 *   waitingUrgent: 0,
 *   ordersInOverlap: 3,
 * });
 * assert.ok(bound.firstClaimMs < 5000);
 * assert.ok(bound.namedByWebhookMs < 20_000);
 * assert.ok(bound.anythingMs < 2 * 3_600_000);
 * ```
 */
export function stalenessBound(
  rules: ShareRules,
  periods: SweepPeriods,
  counts: WorkCounts,
): StalenessBound {
  const parts = SWEEP_KINDS.reduce((sum, kind) => sum + rules.shares[kind], 0);
  const takesMs = (kind: SweepKind, requests: number): number =>
    Math.ceil(
      requests * 1000 * parts / (rules.requestsPerSecond * rules.shares[kind]),
    );
  // A walk ends on an empty page, and users are walked beside the orders.
  const follow = takesMs("new", pages(counts.ordersInOverlap) + 1 + 2);
  // Unknown ids take at most one request in four while known ones wait, and
  // users one in four while orders wait.
  const shared = ONE_IN / (ONE_IN - 1);
  const { waitingUsers, waitingUrgent } = counts;
  const others = counts.waiting - counts.waitingUnknown - waitingUsers -
    waitingUrgent;
  const urgent = pages(waitingUrgent) * shared;
  const named = Math.max(
    urgent + Math.ceil(others / PLACES_FOR_OTHERS) * shared,
    pages(waitingUsers) * ONE_IN,
  );
  const first = takesMs("confirm", urgent * shared);
  const confirm = takesMs("confirm", named * shared);
  const shown = counts.openOrders - counts.openUnknown + counts.recentlyFinal;
  const open = takesMs("open", pages(shown) * 2 * shared);
  const deep = takesMs("deep", deepRequests(counts, periods.itemsPerWindow));
  return {
    newOrderMs: periods.followEveryMs + 2 * follow,
    firstClaimMs: periods.confirmEveryMs + 2 * first,
    namedByWebhookMs: periods.confirmAtLeastMs + periods.confirmEveryMs +
      2 * confirm,
    recentlyFinalMs: periods.openEveryMs + 2 * open,
    openOrderMs: periods.openAtLeastMs + periods.openEveryMs + 2 * open,
    // What is created during a cycle is read at the end of the next.
    anythingMs: periods.deepCycleAtLeastMs + 2 * deep,
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
