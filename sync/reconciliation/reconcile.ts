import { recordBy } from "../../core/guards.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { isRequestable } from "../../core/wire/objects.ts";
import type { OrderState } from "../../ledger/mod.ts";
import {
  evolveOrder,
  initialOrderFold,
  orderState,
  readFact,
  record,
} from "../../ledger/for_sync.ts";
import type { ReconcileLedger } from "../polling/poller.ts";
import { ITEMS_PER_REQUEST, POLLER_DEFAULTS } from "../polling/sweeps.ts";
import { idOf } from "../recording/recorder.ts";
import {
  callOptions,
  isRefusal,
  type ListPage,
  type PollClient,
  requestOldest,
  runToEnd,
  walkSettled,
  wholeSecond,
} from "../walk/walk.ts";
import {
  RECONCILE_SEVERITY,
  type ReconcileCategory,
  type ReconcileFlag,
  reconcileOrder,
  type ReconcileRow,
  type UnprovenReason,
} from "./reconcile_order.ts";

/** What to compare, and how. */
export interface ReconcileOptions {
  /** The ledger. */
  readonly ledger: ReconcileLedger;
  /** Makes the requests; its own rate limit holds. */
  readonly client: PollClient;
  /**
   * Start of the window of creation time, in milliseconds since the epoch.
   *
   * @default {the oldest order}
   */
  readonly fromMs?: number;
  /** End of it, in milliseconds since the epoch. @default {now} */
  readonly toMs?: number;
  /** The clock, in ms. @default {Date.now} */
  readonly now?: () => number;
  /** Asset table that gives the precision of amounts. @default {"production"} */
  readonly assets?: AssetTable;
  /** Lists the orders that agree as well. @default {false} */
  readonly all?: boolean;
  /** Called with each order compared. */
  readonly onProgress?: (compared: number) => void;
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/** Service and ledger, compared. */
export interface ReconcileReport {
  /** Start of the window, UTC ISO 8601. */
  readonly from: string;
  /** End of the window, UTC ISO 8601. */
  readonly to: string;
  /** End of what can be proven: what is younger may still change. */
  readonly provenUpTo: string;
  /** Orders compared. */
  readonly orders: number;
  /** Orders by category and by flag; a row has one category, any flags. */
  readonly counts: Readonly<Record<ReconcileCategory | ReconcileFlag, number>>;
  /** Orders on which the two disagree: exit code 3 unless it is zero. */
  readonly disagreements: number;
  /** Whether it is proven that the service showed all up to `provenUpTo`. */
  readonly complete: boolean;
  /** Why it is not; null when it is. */
  readonly why: UnprovenReason | null;
  /**
   * Orders that disagree or that a person should look at, the gravest first,
   * then the oldest.
   */
  readonly rows: readonly ReconcileRow[];
}

/**
 * Compares the ledger with the service, order by order, and changes nothing.
 *
 * @param options What to compare.
 * @throws {RangeError} When the window ends before it starts.
 * @throws {OnrampError} When the service fails.
 * @throws {LedgerError} When the database fails.
 *
 * @example Compare the last day
 * ```ts
 * import { reconcile } from "@rampkit/onramp/sync";
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: "key",
 *   fetch: () => Promise.resolve(Response.json({ success: true, data: [], total: 0 })),
 *   requestsPerSecond: 1000,
 * });
 * const fromMs = Date.now() - 24 * 3_600_000;
 * const { disagreements } = await reconcile({ ledger, client, fromMs });
 * assert.equal(disagreements, 0);
 * ```
 */
export async function reconcile(
  options: ReconcileOptions,
): Promise<ReconcileReport> {
  const { ledger, client, now = Date.now, assets = "production" } = options;
  const compared = new Set<string>();
  const rows: ReconcileRow[] = [];
  const counts = recordBy(RECONCILE_SEVERITY)(() => 0);
  let why: UnprovenReason | null = null;
  await ledger.project(callOptions(options));
  const past = await requestOldest(options, "order");
  const serviceMs = Date.parse(past.readAt);
  // Whichever clock is ahead: neither's last second may be cut off.
  const lastMs = Math.max(now(), serviceMs) + 1000;
  const toMs = wholeSecond(Math.min(options.toMs ?? lastMs, lastMs));
  const beginsMs = options.fromMs ?? past.beginsMs(toMs);
  if (options.toMs !== undefined && options.toMs < beginsMs) {
    throw new RangeError(
      `Cannot compare from ${iso(beginsMs)} to ${
        iso(options.toMs)
      }: the window ends before it starts`,
    );
  }
  const fromMs = Math.min(beginsMs, toMs);
  const walked = await runToEnd(walkSettled({
    ...{ ...options, now, entity: "order", itemsPerWindow: ITEMS_PER_WINDOW },
    ...{ settleMs: POLLER_DEFAULTS.settleMs, onPage: comparePage },
  }, { fromMs, toMs, serviceMs }));
  why = walked.why;
  await compareRest();
  // No order that disagrees is left out of the rows.
  const disagreeing = rows.filter(({ disagrees }) => disagrees);
  return {
    from: iso(fromMs),
    to: iso(toMs),
    provenUpTo: iso(walked.untilMs),
    orders: compared.size,
    counts,
    disagreements: disagreeing.length,
    complete: why === null,
    why,
    rows: rows.toSorted(bySeverity),
  };

  async function comparePage(page: ListPage): Promise<void> {
    for (const [at, order] of page.data.entries()) {
      const source = page.sources[at];
      if (compared.has(idOf("order", order)) || !source) continue;
      const service = orderAtService(source, page.readAt, assets);
      if (service === null) continue;
      add(service, await ledger.orders.get(service.orderId), page.readAt);
    }
  }

  async function compareRest(): Promise<void> {
    let waiting: OrderState[] = [];
    const listed = ledger.orders.list({
      // Without a start, what only the ledger knows may be older than all else.
      ...(options.fromMs === undefined ? {} : { createdAfter: iso(fromMs) }),
      createdUpTo: iso(toMs),
      sort: "oldest",
    });
    for await (const order of listed) {
      if (compared.has(order.orderId)) continue;
      waiting.push(order);
      if (waiting.length < ITEMS_PER_REQUEST) continue;
      await request(waiting);
      waiting = [];
    }
    if (waiting.length > 0) await request(waiting);
  }

  /** One id that the service refuses must not keep the others from being read. */
  async function request(orders: readonly OrderState[]): Promise<void> {
    try {
      await requestAll(orders);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Throws where the service fails every request.
      await requestOldest(options, "order");
      const [only, ...others] = orders;
      if (only !== undefined && others.length === 0) {
        why ??= { code: "order_refused", orderId: only.orderId };
      } else for (const order of orders) await request([order]);
    }
  }

  async function requestAll(orders: readonly OrderState[]): Promise<void> {
    const ids = orders.map((order) => order.orderId).filter(isRequestable);
    let readAt = iso(now());
    let exhausted = true;
    if (ids.length > 0) {
      const walk = client.orders.list(
        { search_by: ids, limit: ITEMS_PER_REQUEST },
        callOptions(options),
      );
      for await (const page of walk.pages()) {
        readAt = page.readAt;
        await comparePage(page);
      }
      exhausted = walk.completeness.exhausted;
    }
    for (const order of orders) {
      if (compared.has(order.orderId)) continue;
      if (exhausted) add(null, order, readAt);
      else why ??= { code: "search_not_ended" };
    }
  }

  function add(
    service: OrderState | null,
    ledger: OrderState | null,
    readAt: string,
  ): void {
    const readAtMs = Date.parse(readAt);
    const row = reconcileOrder({ service, ledger }, { assets, readAtMs });
    compared.add(row.orderId);
    const found = [row.category, ...row.flags];
    if (options.all || found.join() !== "agree") rows.push(row);
    for (const one of found) counts[one] += 1;
    options.onProgress?.(compared.size);
  }
}

const ITEMS_PER_WINDOW = 400;

function bySeverity(a: ReconcileRow, b: ReconcileRow): number {
  return severity(a) - severity(b) ||
    compare(a.createdAt ?? "", b.createdAt ?? "") ||
    compare(a.orderId, b.orderId);
}

function severity({ category, flags }: ReconcileRow): number {
  return Math.min(
    ...[category, ...flags].map((found) => RECONCILE_SEVERITY.indexOf(found)),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/**
 * Makes the state of an order from the service's answer alone, in the form in
 * which the ledger holds it.
 */
function orderAtService(
  source: string,
  readAt: string,
  assets: AssetTable,
): OrderState | null {
  const event = record("order_snapshot", source, {
    readAt,
    recordedAt: readAt,
    salt: new Uint8Array(16),
  });
  if (event.orderId === null) return null;
  const fact = readFact({ ...event, position: 0 });
  const fold = evolveOrder(initialOrderFold(event.orderId), fact);
  return orderState(fold, { assets });
}
