import { type AttentionKind, STUCK_AFTER_MS } from "../attention/attention.ts";
import type { AnomalyKind } from "../anomalies/anomaly.ts";
import type { OrderActivity } from "../orders/order_activity.ts";
import type { OrderState } from "../orders/order_state.ts";
import type { Status, Trust } from "../orders/status.ts";
import type { Driver } from "../store/driver/driver.ts";
import type { PageQuery, Selection } from "../store/tables/state_pages.ts";
import {
  orderConditions,
  selectOrdersOfLink,
} from "../store/tables/order_conditions.ts";
import { StateReader } from "./state_reader.ts";

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
  /** Only orders that wait for a person for this reason. */
  readonly attention?: AttentionKind;
  /**
   * The time that `attention: "stuck"` goes by, in milliseconds since the epoch.
   *
   * @default {Date.now()}
   */
  readonly stuckAtMs?: number;
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
  readonly #states: StateReader<OrderView, OrderQuery>;

  /**
   * Reads orders of a database; {@linkcode openLedger} makes one.
   *
   * @param driver A database that has been migrated.
   */
  constructor(driver: Driver) {
    this.#states = new StateReader(driver, "order", orderSelection);
  }

  /**
   * Reads one order by its order id.
   *
   * @param orderId Order identifier.
   * @returns Null when no event names it.
   * @throws {LedgerError} When the database fails.
   */
  get(orderId: string): Promise<OrderView | null> {
    return this.#states.get(orderId);
  }

  /**
   * Reads the orders that an id leads to: an order id leads to that order
   * alone; an external id, click id or session id to each order that any event
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
    return this.#states.select(selectOrdersOfLink(anyId, MOST_FOUND));
  }

  /**
   * Reads one page of orders.
   *
   * @param query Which orders; all conditions must hold.
   * @throws {RangeError} When the query asks for what cannot be.
   * @throws {LedgerError} When the database fails.
   */
  async page(query: OrderQuery = {}): Promise<OrderPage> {
    const { views, next } = await this.#states.page(query);
    return { orders: views, next };
  }

  /**
   * Walks over all orders of a query, page by page. Orders that appear or move
   * meanwhile may be read or missed, but none is read twice.
   *
   * @param query Which orders; `limit` is the size of a page.
   * @throws {RangeError} When the query asks for what cannot be.
   * @throws {LedgerError} When the database fails.
   */
  list(query: OrderQuery = {}): AsyncGenerator<OrderView> {
    return this.#states.list(query);
  }
}

/** Where more orders share an id, the id does not say which one is meant. */
const MOST_FOUND = 100;

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
    where: orderConditions({
      ...query,
      stuckSince: new Date(
        (query.stuckAtMs ?? Date.now()) - STUCK_AFTER_MS,
      ).toISOString(),
    }),
    query,
  };
}
