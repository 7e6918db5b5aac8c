import type { Order } from "../../client/order.ts";
import type { Completeness, Page } from "../../client/page.ts";
import { readServiceTime } from "../../client/service_time.ts";
import { orderSnapshot } from "../event/mint.ts";
import { evolveOrder, initialOrderFold } from "../fold/order_fold.ts";
import type { OrderState } from "../fold/order_state.ts";
import { readFact } from "../fold/read_fact.ts";
import { orderState } from "../fold/state_of_order.ts";
import { SETTLE_MS } from "./_settings.ts";
import { isAskable } from "./ask_by_id.ts";
import {
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
  type ReconcileCategory,
  type ReconcileFlag,
  reconcileOrder,
  type ReconcileRow,
  type ReconcileRules,
} from "./reconcile_order.ts";
import type { ReconcileOptions, ReconcileReport } from "./reconcile_report.ts";
import { ITEMS_PER_REQUEST } from "./staleness.ts";
import {
  afterWindow,
  filterTime,
  isDense,
  nextWindow,
  type TimeWindow,
  wholeSecond,
  type WindowProgress,
} from "./windows.ts";

/** Orders a window should hold at most. */
const itemsPerWindow = 400;

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
 * import { reconcile, openLedger } from "@rampkit/onramp/ledger";
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
  await options.ledger.project(callOptions(options));
  return await new Comparison(options).run();
}

class Comparison {
  readonly #options: ReconcileOptions;
  readonly #rules: Omit<ReconcileRules, "readAtMs">;
  readonly #compared = new Set<string>();
  readonly #rows: ReconcileRow[] = [];
  readonly #counts = noCounts();
  #disagreements = 0;
  #why: string | null = null;

  constructor(options: ReconcileOptions) {
    this.#options = options;
    this.#rules = {
      assets: options.assets ?? "production",
      stuckAfterMs: options.stuckAfterMs ?? 3_600_000,
      webhookGraceMs: options.webhookGraceMs ?? 300_000,
      toleranceMs: options.toleranceMs ?? 0,
    };
  }

  async run(): Promise<ReconcileReport> {
    const { fromMs, settledMs, toMs } = await this.#window();
    let walk: WindowProgress = {
      doneUpToMs: fromMs,
      spanMs: settledMs - fromMs,
    };
    for (;;) {
      const window = nextWindow(walk, settledMs);
      if (window === null) break;
      const outcome = await this.#walk(window);
      walk = afterWindow(walk, window, outcome, itemsPerWindow);
    }
    if (toMs > settledMs) await this.#walkTail(settledMs, toMs);
    await this.#compareRest(fromMs, toMs);
    return {
      from: iso(fromMs),
      to: iso(toMs),
      provenUpTo: iso(settledMs),
      orders: this.#compared.size,
      counts: this.#counts,
      disagreements: this.#disagreements,
      complete: this.#why === null,
      why: this.#why,
      rows: this.#rows.toSorted(byCreation),
    };
  }

  /** The window, and how far the service is settled in it. */
  async #window(): Promise<
    { fromMs: number; settledMs: number; toMs: number }
  > {
    const { client, now = Date.now, settleMs = SETTLE_MS } = this.#options;
    const oldest = await client.orders.page(
      { order_by: "asc", limit: 1 },
      callOptions(this.#options),
    );
    const serviceMs = Date.parse(oldest.readAt);
    // Whichever clock is ahead: neither's last second may be cut off.
    const lastMs = Math.max(now(), serviceMs) + 1000;
    const toMs = wholeSecond(Math.min(this.#options.toMs ?? lastMs, lastMs));
    const firstMs = readServiceTime(oldest.data[0]?.created_at ?? "") ?? 0;
    const fromMs = this.#options.fromMs ??
      (oldest.data.length === 0 ? toMs : wholeSecond(firstMs) - 1000);
    if (this.#options.toMs !== undefined && this.#options.toMs < fromMs) {
      throw new RangeError(
        `Cannot compare from ${iso(fromMs)} to ${
          iso(this.#options.toMs)
        }: the window ends before it starts`,
      );
    }
    const settledMs = wholeSecond(Math.min(toMs, serviceMs - settleMs));
    return {
      fromMs: Math.min(fromMs, toMs),
      settledMs: Math.max(settledMs, Math.min(fromMs, toMs)),
      toMs,
    };
  }

  /** What is too young for a proof: compared all the same. */
  async #walkTail(settledMs: number, toMs: number): Promise<void> {
    const walk = this.#options.client.orders.list({
      start_date: filterTime(settledMs),
      end_date: filterTime(toMs),
      order_by: "asc",
      limit: ITEMS_PER_REQUEST,
    }, callOptions(this.#options));
    for await (const page of walk.pages()) await this.#comparePage(page);
  }

  async #walk(
    window: TimeWindow,
  ): Promise<
    { kind: "walked"; items: number } | { kind: "dense"; items: number | null }
  > {
    const { client, settleMs = SETTLE_MS } = this.#options;
    const walk = client.orders.list({
      start_date: filterTime(window.startMs),
      end_date: filterTime(window.endMs),
      order_by: "asc",
      limit: ITEMS_PER_REQUEST,
    }, { ...callOptions(this.#options), prove: true, settleMs });
    let items = 0;
    for await (const page of walk.pages()) {
      const first = items === 0;
      items += page.data.length;
      await this.#comparePage(page);
      if (first && isDense(window, page.total ?? 0, itemsPerWindow)) {
        return { kind: "dense", items: page.total };
      }
      if (isDense(window, items, itemsPerWindow * 4)) {
        return { kind: "dense", items: null };
      }
    }
    this.#note(walk.completeness);
    return { kind: "walked", items };
  }

  #note(completeness: Completeness): void {
    if (!completeness.complete) this.#why ??= completeness.why;
  }

  async #comparePage(page: Page<Order>): Promise<void> {
    const readAtMs = Date.parse(page.readAt);
    for (const [at, order] of page.data.entries()) {
      if (this.#compared.has(order.order_id)) continue;
      const source = page.sources[at];
      if (source === undefined) continue;
      const service = this.#stateOf(source, page.readAt);
      if (service === null) continue;
      const ledger = await this.#options.ledger.orders.get(service.orderId);
      this.#add(order.order_id, service, ledger, readAtMs);
    }
  }

  /** The order as the service alone tells it, in the ledger's own form. */
  #stateOf(source: string, readAt: string): OrderState | null {
    const event = orderSnapshot({
      source,
      readAt,
      recordedAt: readAt,
      salt: new Uint8Array(16),
    });
    if (event.orderId === null) return null;
    const fact = readFact({ ...event, position: 0 });
    const fold = evolveOrder(initialOrderFold(event.orderId), fact);
    return orderState(fold, { assets: this.#rules.assets });
  }

  /** Orders of the ledger that the walk did not show: the service is asked. */
  async #compareRest(fromMs: number, toMs: number): Promise<void> {
    const { ledger } = this.#options;
    let waiting: OrderState[] = [];
    // Without a start, what only the ledger knows may be older than all else.
    const query = {
      ...(this.#options.fromMs === undefined
        ? {}
        : { createdAfter: iso(fromMs) }),
      createdUpTo: iso(toMs),
      sort: "oldest",
    } as const;
    for await (const order of ledger.orders.list(query)) {
      if (this.#compared.has(order.orderId)) continue;
      waiting.push(order);
      if (waiting.length < ITEMS_PER_REQUEST) continue;
      await this.#askFor(waiting);
      waiting = [];
    }
    if (waiting.length > 0) await this.#askFor(waiting);
  }

  async #askFor(orders: readonly OrderState[]): Promise<void> {
    const { client, now = Date.now } = this.#options;
    const ids = orders.map((order) => order.orderId).filter(isAskable);
    let readAtMs = now();
    let exhausted = true;
    if (ids.length > 0) {
      const walk = client.orders.list(
        { search_by: ids, limit: ITEMS_PER_REQUEST },
        callOptions(this.#options),
      );
      for await (const page of walk.pages()) {
        readAtMs = Date.parse(page.readAt);
        await this.#comparePage(page);
      }
      exhausted = walk.completeness.exhausted;
    }
    for (const order of orders) {
      if (this.#compared.has(order.orderId)) continue;
      if (!exhausted) {
        this.#why ??= "A search by order ids did not reach its end";
        continue;
      }
      this.#add(order.orderId, null, order, readAtMs);
    }
  }

  #add(
    orderId: string,
    service: OrderState | null,
    ledger: OrderState | null,
    readAtMs: number,
  ): void {
    this.#compared.add(orderId);
    const row = reconcileOrder(
      { service, ledger },
      { ...this.#rules, readAtMs },
    );
    this.#counts[row.category] += 1;
    for (const flag of row.flags) this.#counts[flag] += 1;
    if (row.disagrees) this.#disagreements += 1;
    const notable = row.category !== "agree" || row.flags.length > 0;
    if (notable || this.#options.all === true) this.#rows.push(row);
    this.#options.onProgress?.(this.#compared.size);
  }
}

function noCounts(): Record<ReconcileCategory | ReconcileFlag, number> {
  const names = [...RECONCILE_CATEGORIES, ...RECONCILE_FLAGS];
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<
    ReconcileCategory | ReconcileFlag,
    number
  >;
}

function byCreation(a: ReconcileRow, b: ReconcileRow): number {
  const [left, right] = [a.createdAt ?? "", b.createdAt ?? ""];
  if (left !== right) return left < right ? -1 : 1;
  return a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : 0;
}

function callOptions(
  { signal }: ReconcileOptions,
): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
