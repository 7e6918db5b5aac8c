import { sleep } from "../../../core/waiting/sleep.ts";
import type { Ledger, OrderQuery } from "../../../ledger/mod.ts";
import type { OrderTotal } from "../../../ledger/types.ts";
import { CachedValue } from "./cached_value.ts";

/** A list does not wait longer for its sum, ms. */
const PATIENCE_MS = 60;

/** Sums are worked out again after this long, ms. */
const OLD_MS = 5_000;

/** Lists whose sums are remembered. */
const REMEMBERED = 50;

/**
 * The sums of lists of orders. One of a million orders takes some hundred
 * milliseconds, so a list comes without its sum where that is not soon known.
 */
export class OrderTotals {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #lists = new Map<string, CachedValue<readonly OrderTotal[]>>();

  /**
   * Adds up nothing until asked.
   *
   * @param now Clock, ms since the epoch.
   */
  constructor(ledger: Ledger, now: () => number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  /** The sum of a list. */
  of(query: OrderQuery): Promise<readonly OrderTotal[]> {
    const { stuckAtMs: _, ...lasting } = query;
    const key = JSON.stringify(lasting);
    const now = this.#now;
    const list = this.#lists.get(key) ?? new CachedValue(
      () => this.#ledger.orders.totals({ ...query, stuckAtMs: now() }),
      { now, oldMs: OLD_MS },
    );
    this.#lists.delete(key);
    this.#lists.set(key, list);
    const [oldest = key] = this.#lists.keys();
    if (this.#lists.size > REMEMBERED) this.#lists.delete(oldest);
    return list.value();
  }

  /** The sum of a list where it is soon known; else null. */
  async soon(query: OrderQuery): Promise<readonly OrderTotal[] | null> {
    const waited = new AbortController();
    const late = sleep(PATIENCE_MS, waited.signal).then(
      () => null,
      () => null,
    );
    try {
      return await Promise.race([this.of(query), late]);
    } finally {
      waited.abort();
    }
  }

  /** Waits for what is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    for (const list of this.#lists.values()) await list.settled();
  }
}
