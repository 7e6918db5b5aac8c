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

/** A sum; or that it is worked out, or that it has to be asked for. */
export type SoonTotals = readonly OrderTotal[] | "later" | "many";

/** What is remembered of a list. */
interface List {
  readonly isMany: CachedValue<boolean>;
  readonly totals: CachedValue<readonly OrderTotal[]>;
}

/**
 * The sums of lists of orders. One of a million orders takes more than a second,
 * so that of very many is worked out where somebody asks for it, and a list
 * comes without its sum where that is not soon known.
 */
export class OrderTotals {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #lists = new Map<string, List>();

  /** Adds up nothing until asked. */
  constructor(ledger: Ledger, now: () => number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  /** The sum of a list, however long it takes. */
  of(query: OrderQuery): Promise<readonly OrderTotal[]> {
    return this.#list(query).totals.value();
  }

  /** The sum of a list of few enough orders, where it is soon known. */
  async soon(query: OrderQuery): Promise<SoonTotals> {
    const { isMany, totals } = this.#list(query);
    if (await isMany.value()) return "many";
    const waited = new AbortController();
    const late = sleep(PATIENCE_MS, waited.signal).then(
      () => "later" as const,
      () => "later" as const,
    );
    try {
      return await Promise.race([totals.value(), late]);
    } finally {
      waited.abort();
    }
  }

  /** Waits for what is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    for (const { isMany, totals } of this.#lists.values()) {
      await isMany.settled();
      await totals.settled();
    }
  }

  #list(query: OrderQuery): List {
    const { stuckAtMs: _, ...lasting } = query;
    const key = JSON.stringify(lasting);
    const now = this.#now;
    const { orders } = this.#ledger;
    const aged = { now, oldMs: OLD_MS };
    const asked = () => ({ ...query, stuckAtMs: now() });
    const list = this.#lists.get(key) ?? {
      isMany: new CachedValue(() => orders.hasMany(asked()), aged),
      totals: new CachedValue(() => orders.totals(asked()), aged),
    };
    this.#lists.delete(key);
    this.#lists.set(key, list);
    const [oldest = key] = this.#lists.keys();
    if (this.#lists.size > REMEMBERED) this.#lists.delete(oldest);
    return list;
  }
}
