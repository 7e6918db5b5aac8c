import { recordBy } from "../../core/guards.ts";
import {
  bySeverity,
  RECONCILE_SEVERITY,
  type ReconcileOptions,
  type ReconcileReport,
  type ReconcileRow,
  type ReconcileRules,
  type UnprovenReason,
} from "./reconcile_row.ts";
import type { OrderState } from "../../ledger/mod.ts";
import {
  ITEMS_PER_REQUEST,
  POLLER_DEFAULTS,
} from "../polling/sweep_context.ts";
import {
  callOptions,
  isRefusal,
  type ListPage,
  requestOldest,
  runToEnd,
  wholeSecond,
} from "../walk/poll_client.ts";
import { isRequestable } from "../../core/wire/identifier.ts";
import { reconcileOrder } from "./reconcile_order.ts";
import { walkRange, wholeRange } from "../walk/walk_range.ts";
import { idOf } from "../recording/recorder.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  evolveOrder,
  initialOrderFold,
  orderState,
  readFact,
  record,
} from "../../ledger/for_sync.ts";

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
  await options.ledger.project(callOptions(options));
  return await new Comparison(options).run();
}

class Comparison {
  readonly #options: ReconcileOptions;
  readonly #rules: Omit<ReconcileRules, "readAtMs">;
  readonly #compared = new Set<string>();
  readonly #rows: ReconcileRow[] = [];
  readonly #counts = recordBy(RECONCILE_SEVERITY)(() => 0);
  #disagreements = 0;
  #why: UnprovenReason | null = null;

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
    await this.#walk(fromMs, settledMs, true);
    // What is too young for a proof is compared all the same.
    await this.#walk(settledMs, toMs, false);
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
      rows: this.#rows.toSorted(bySeverity),
    };
  }

  /** The window, and how far the service is settled in it. */
  async #window(): Promise<
    { fromMs: number; settledMs: number; toMs: number }
  > {
    const { now = Date.now, settleMs = POLLER_DEFAULTS.settleMs } =
      this.#options;
    const past = await requestOldest(this.#options, "order");
    const serviceMs = Date.parse(past.readAt);
    // Whichever clock is ahead: neither's last second may be cut off.
    const lastMs = Math.max(now(), serviceMs) + 1000;
    const toMs = wholeSecond(Math.min(this.#options.toMs ?? lastMs, lastMs));
    const fromMs = this.#options.fromMs ?? past.beginsMs(toMs);
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

  async #walk(fromMs: number, untilMs: number, prove: boolean): Promise<void> {
    const {
      client,
      signal,
      now = Date.now,
      settleMs = POLLER_DEFAULTS.settleMs,
    } = this.#options;
    await runToEnd(walkRange({
      client,
      ...(signal === undefined ? {} : { signal }),
      now,
      settleMs,
      itemsPerWindow,
      onPage: (page) => this.#comparePage(page),
    }, {
      entity: "order",
      from: wholeRange(fromMs, untilMs),
      untilMs,
      prove,
      onWindow: ({ outcome }) => {
        if (prove && outcome.kind === "walked") this.#why ??= outcome.reason;
      },
    }));
  }

  async #comparePage(page: ListPage): Promise<void> {
    const readAtMs = Date.parse(page.readAt);
    for (const [at, order] of page.data.entries()) {
      if (this.#compared.has(idOf("order", order))) continue;
      const source = page.sources[at];
      if (source === undefined) continue;
      const service = orderAtService(
        source,
        page.readAt,
        this.#rules.assets,
      );
      if (service === null) continue;
      const ledger = await this.#options.ledger.orders.get(service.orderId);
      this.#add(service.orderId, service, ledger, readAtMs);
    }
  }

  /** Requests the orders of the ledger that the walk did not show. */
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
      await this.#request(waiting);
      waiting = [];
    }
    if (waiting.length > 0) await this.#request(waiting);
  }

  /** One id that the service refuses must not keep the others from being read. */
  async #request(orders: readonly OrderState[]): Promise<void> {
    try {
      await this.#requestAll(orders);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Throws where the service fails every request.
      await requestOldest(this.#options, "order");
      const [only, ...others] = orders;
      if (only !== undefined && others.length === 0) {
        this.#why ??= { code: "order_refused", orderId: only.orderId };
        return;
      }
      const middle = Math.ceil(orders.length / 2);
      await this.#request(orders.slice(0, middle));
      await this.#request(orders.slice(middle));
    }
  }

  async #requestAll(orders: readonly OrderState[]): Promise<void> {
    const { client, now = Date.now } = this.#options;
    const ids = orders.map((order) => order.orderId).filter(isRequestable);
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
        this.#why ??= { code: "search_not_ended" };
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
