import type { AnomalyKind } from "../fold/anomaly.ts";
import type { OrderActivity } from "../fold/order_activity.ts";
import type { OrderState, Status, Trust } from "../fold/order_state.ts";
import type { Driver } from "../store/driver.ts";
import {
  type Condition,
  liveGeneration,
  type PageQuery,
  type RowPage,
  type Selection,
  selectPage,
} from "./select_page.ts";

/** An order as readers see it. */
export type OrderView = OrderState & {
  /** What was received about it, and when; grows with each repeat. */
  readonly activity: OrderActivity;
};

/** Which orders to read. */
export interface OrderQuery extends PageQuery {
  /** Only this status. */
  readonly status?: Status;
  /** Only this trust. */
  readonly trust?: Trust;
  /** Only orders of this user. */
  readonly userId?: string;
  /** Only orders that this click id leads to. */
  readonly clickId?: string;
  /** Only this asset, whatever the case of its code. */
  readonly commodity?: string;
  /**
   * True: only orders that may still change (not confirmed final, or
   * contested); false: only the others.
   */
  readonly open?: boolean;
  /** True: only orders with any anomaly; or one kind of anomaly. */
  readonly anomaly?: true | AnomalyKind | (string & Record<never, never>);
}

/** One page of orders. */
export interface OrderPage {
  /** The orders. */
  readonly orders: readonly OrderView[];
  /** Value of `after` for the next page; null on the last one. */
  readonly next: string | null;
}

/** Orders as folded so far; behind by {@linkcode Ledger.lag} events. */
export class Orders {
  readonly #driver: Driver;

  /**
   * Reads orders of a database; {@linkcode openLedger} makes one.
   *
   * @param driver A database that has been migrated.
   */
  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /**
   * Reads one order by its order id.
   *
   * @param orderId Order identifier.
   * @returns Null when no event names it.
   * @throws {LedgerError} When the database fails.
   */
  async get(orderId: string): Promise<OrderView | null> {
    const [result] = await this.#driver.batch([{
      sql: `SELECT state, activity FROM orders
        WHERE generation = ${liveGeneration} AND order_id = ?`,
      args: [orderId],
    }], "read");
    const row = result?.rows[0];
    return row === undefined ? null : view(row[0] as string, row[1] as string);
  }

  /**
   * Reads the orders that an id leads to: an order id leads to that order
   * alone; an external id, click id or session id to each order that anybody
   * has named with it.
   *
   * @param anyId Order id, external id, click id or session id.
   * @returns None, one, or several, oldest first; of more than a hundred the
   * oldest hundred, and {@linkcode Orders.list} has all of a click id.
   * @throws {LedgerError} When the database fails.
   */
  async find(anyId: string): Promise<OrderView[]> {
    const exact = await this.get(anyId);
    if (exact !== null) return [exact];
    // The plus keeps SQLite from walking all orders by time to save a sort.
    const [result] = await this.#driver.batch([{
      sql: `SELECT state, activity FROM orders
        WHERE generation = ${liveGeneration} AND order_id IN (
          SELECT order_id FROM order_links
          WHERE generation = ${liveGeneration}
            AND kind IN ('click', 'external', 'session') AND link = ?)
        ORDER BY +sort_at, order_id LIMIT ${mostFound}`,
      args: [anyId],
    }], "read");
    return result?.rows.map(([state, activity]) =>
      view(state as string, activity as string)
    ) ?? [];
  }

  /**
   * Reads one page of orders.
   *
   * @param query Which orders; all conditions must hold.
   * @throws {RangeError} When a limit or a time is wrong.
   * @throws {TypeError} When `after` is no cursor.
   * @throws {LedgerError} When the database fails.
   */
  async page(query: OrderQuery = {}): Promise<OrderPage> {
    const { rows, next } = await selectPage(
      this.#driver,
      orderSelection(query),
    );
    return { orders: views(rows), next };
  }

  /**
   * Walks over all orders of a query, page by page. Orders that appear or move
   * meanwhile may be met or missed, but none is met twice.
   *
   * @param query Which orders; `limit` is the size of a page.
   * @throws {LedgerError} When the database fails.
   */
  async *list(query: OrderQuery = {}): AsyncGenerator<OrderView> {
    let after = query.after;
    for (;;) {
      const page = await this.page({
        ...query,
        ...(after === undefined ? {} : { after }),
      });
      yield* page.orders;
      if (page.next === null) return;
      after = page.next;
    }
  }
}

/** Where more orders share an id, it does not say which one is meant. */
const mostFound = 100;

/**
 * What a query selects.
 *
 * @param query The query.
 */
export function orderSelection(query: OrderQuery): Selection {
  return {
    table: "orders",
    // The orders of a click id are few, and its links name them.
    ...(query.clickId === undefined
      ? {}
      : { index: "sqlite_autoindex_orders_1" }),
    where: orderConditions(query),
    query,
  };
}

/**
 * The conditions of a query in SQL. Where an index is partial its condition is
 * written out, because a bound value would hide it.
 *
 * @param query The query.
 */
function orderConditions(query: OrderQuery): Condition[] {
  const conditions: Condition[] = [];
  const add = (sql: string, ...args: Condition["args"]) => {
    conditions.push({ sql, args });
  };
  if (query.status !== undefined) add("status = ?", query.status);
  if (query.trust !== undefined) {
    add(
      query.trust === "claimed" ? "trust = 'claimed'" : "trust = 'confirmed'",
    );
  }
  if (query.userId !== undefined) add("user_id = ?", query.userId);
  if (query.commodity !== undefined) {
    add("commodity = ?", query.commodity.toUpperCase());
  }
  if (query.open !== undefined) add(query.open ? "open = 1" : "open = 0");
  if (query.clickId !== undefined) {
    add(
      `order_id IN (SELECT order_id FROM order_links WHERE generation = ` +
        `${liveGeneration} AND kind = 'click' AND link = ?)`,
      query.clickId,
    );
  }
  if (query.anomaly !== undefined) {
    add("anomalies IS NOT NULL");
    if (query.anomaly !== true) {
      add("instr(anomalies, ?) > 0", ` ${query.anomaly} `);
    }
  }
  return conditions;
}

function views(rows: RowPage["rows"]): OrderView[] {
  return rows.map(({ state, activity }) => view(state, activity));
}

function view(state: string, activity: string): OrderView {
  return { ...JSON.parse(state), activity: JSON.parse(activity) };
}
