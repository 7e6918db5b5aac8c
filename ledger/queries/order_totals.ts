import type { Trust } from "../machines/transition.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { amountOfColumn } from "../store/tables/orders.ts";
import {
  type ListPlace,
  placeOf,
  selectStepEnd,
} from "../store/tables/lists/list_order.ts";
import { type Selection, WALKED } from "../store/tables/lists/selection.ts";
import {
  orderTotals,
  selectChosenEnd,
} from "../store/tables/lists/state_pages.ts";

/** Orders of one currency and trust, and the sum of their amounts. */
export interface OrderTotal {
  /** Code of the currency; null for orders that name none. */
  readonly currency: string | null;
  /**
   * `confirmed`: the service has shown them. `claimed`: only webhooks say so,
   * and anybody can send one.
   */
  readonly trust: Trust;
  /** How many orders there are. */
  readonly orders: number;
  /** The exact sum of the amounts that can be added, a plain decimal. */
  readonly sum: string;
  /**
   * How many amounts are not in the sum: they are not known, are no plain
   * decimal of at most six decimals, or have more than nine digits before them.
   */
  readonly notSummed: number;
}

/**
 * Orders that are looked at in one statement: others wait for the database
 * meanwhile. Those that an index has few of are read row by row.
 */
const STEP = { ofIndex: 20_000, ofFew: 5_000 };

/** With so many orders to look at, adding them up takes longer than a page may. */
const MANY = { ofIndex: 50_000, ofFew: 20_000 };

/**
 * Whether very many orders have to be looked at for the totals of a selection.
 *
 * @param selection As {@linkcode readTotals} takes it.
 * @param many How many are very many.
 */
export async function hasMany(
  driver: Driver,
  selection: Selection,
  many?: number,
): Promise<boolean> {
  const summed = summedOf(selection);
  const { endOf } = summed;
  const [end] = await driver.batch(
    [endOf(summed.listed, null, (many ?? MANY[summed.by]) + 1)],
    "read",
  );
  return (end?.rows.length ?? 0) > 0;
}

/**
 * Counts the orders of a selection, and adds up their amounts.
 *
 * @param selection Which orders; those that an index has few of name it, or
 * leave it to SQLite.
 * @param step Orders that are looked at in one statement.
 */
export async function readTotals(
  driver: Driver,
  selection: Selection,
  step?: number,
): Promise<readonly OrderTotal[]> {
  const found = new Totals();
  const { listed, by, endOf } = summedOf(selection);
  for (let from: ListPlace | null = null;;) {
    const [end] = await driver.batch(
      [endOf(listed, from, step ?? STEP[by])],
      "read",
    );
    const [, ...keys] = end?.rows[0] ?? [];
    const to: ListPlace | null = keys.length === 0 ? null : placeOf(keys);
    const [part] = await driver.batch(
      [orderTotals(listed, { from, to })],
      "read",
    );
    found.add(part?.rows ?? []);
    if (to === null) return found.all;
    from = to;
  }
}

/** How a selection is added up: in the order of time, and step by step. */
function summedOf(selection: Selection) {
  const { sort: _, ...query } = selection.query;
  return selection.isOfFew
    ? {
      listed: { ...selection, query },
      by: "ofFew" as const,
      endOf: selectChosenEnd,
    }
    // The index by time holds all that is added up.
    : {
      listed: { ...selection, index: WALKED.time, query },
      by: "ofIndex" as const,
      endOf: selectStepEnd,
    };
}

/** What steps add up. */
class Totals {
  readonly #totals = new Map<
    string,
    Omit<OrderTotal, "sum"> & { whole: number; millionths: number }
  >();

  /** Adds the rows of {@linkcode orderTotals}. */
  add(rows: readonly (readonly SqlValue[])[]): void {
    for (const [currency, trust, orders, summed, whole, millionths] of rows) {
      const key = `${trust} ${currency}`;
      const one = this.#totals.get(key);
      this.#totals.set(key, {
        currency: currency as string | null,
        trust: trust as Trust,
        orders: (one?.orders ?? 0) + Number(orders),
        notSummed: (one?.notSummed ?? 0) + Number(orders) - Number(summed),
        whole: (one?.whole ?? 0) + Number(whole ?? 0),
        millionths: (one?.millionths ?? 0) + Number(millionths ?? 0),
      });
    }
  }

  /** By currency, those without one last; confirmed ones before claimed ones. */
  get all(): readonly OrderTotal[] {
    const rank = ({ currency, trust }: OrderTotal) =>
      `${currency === null ? 1 : 0} ${currency} ${
        trust === "confirmed" ? 0 : 1
      }`;
    return [...this.#totals.values()].map(({ whole, millionths, ...one }) => ({
      ...one,
      sum: amountOfColumn(whole, millionths),
    })).sort((a, b) => rank(a) < rank(b) ? -1 : 1);
  }
}
