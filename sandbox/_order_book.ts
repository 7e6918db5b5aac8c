import type { OrdersAsk } from "./_query.ts";
import { dottedAsset } from "./_order_json.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import { SortedIds } from "./_sorted.ts";
import { wholeSecond } from "./_times.ts";

/** A page of orders as the service would cut it. */
export interface OrderPage {
  readonly orders: readonly SandboxOrder[];
  /** Cursor for what follows; empty when the page was not full. */
  readonly nextCursorId: string;
  readonly total: number;
}

/** Every order of the service. Creation counts in whole seconds. */
export class OrderBook {
  readonly #orders = new Map<string, SandboxOrder>();
  /** Creation of every order there ever was: a cursor may outlive its row. */
  readonly #known = new Map<string, Created>();
  readonly #sorted = new SortedIds();
  readonly #byOtherId = new Map<string, Set<string>>();

  /** Number of orders. */
  get size(): number {
    return this.#orders.size;
  }

  /** The order with this id, or null. */
  get(orderId: string): SandboxOrder | null {
    return this.#orders.get(orderId) ?? null;
  }

  /** Every order, oldest first. */
  all(): SandboxOrder[] {
    return this.#sorted.between(-Infinity, Infinity).flatMap((id) =>
      this.#orders.get(id) ?? []
    );
  }

  /** Creation second of the newest order, or null. */
  get newestMs(): number | null {
    return this.#sorted.last?.timeMs ?? null;
  }

  /** Stores an order, new or changed; its creation time never changes. */
  put(order: SandboxOrder): void {
    if (!this.#known.has(order.orderId)) {
      const { orderId, createdAtMs } = order;
      this.#known.set(orderId, { orderId, createdAtMs });
      this.#sorted.add(wholeSecond(order.createdAtMs), order.orderId);
      for (const id of [order.clickId, order.externalOrderId]) {
        if (id === "") continue;
        const ids = this.#byOtherId.get(id) ?? new Set();
        this.#byOtherId.set(id, ids.add(order.orderId));
      }
    }
    this.#orders.set(order.orderId, order);
  }

  /** Takes an order out, as if the service had never had it. */
  remove(orderId: string): void {
    this.#orders.delete(orderId);
  }

  /** Orders with this order, click or external id. */
  find(anyId: string): SandboxOrder[] {
    const ids = [anyId, ...this.#byOtherId.get(anyId) ?? []];
    return ids.flatMap((id) => this.#orders.get(id) ?? []);
  }

  /** Whether this can be the cursor of a walk. */
  isCursor(cursorId: string): boolean {
    return cursorId === "" || this.#known.has(cursorId);
  }

  /** The page that `ask` asks for, at most `most` orders long. */
  page(ask: OrdersAsk, most: number): OrderPage {
    const matching = this.#matching(ask);
    const length = Math.min(ask.limit, most);
    const from = ask.offset + this.#afterCursor(matching, ask);
    const orders = matching.slice(from, from + length);
    const last = orders.at(-1);
    const full = ask.limit > 0 && orders.length === length;
    return {
      orders,
      nextCursorId: full && last ? last.orderId : "",
      total: matching.length,
    };
  }

  #matching(ask: OrdersAsk): SandboxOrder[] {
    const ids = ask.searchBy === null
      ? this.#sorted.between(ask.startMs ?? -Infinity, ask.endMs ?? Infinity)
      : this.#searched(ask);
    if (!ask.ascending) ids.reverse();
    return ids.flatMap((id) => {
      const order = this.#orders.get(id);
      return order && matches(order, ask) ? order : [];
    });
  }

  #searched(ask: OrdersAsk): string[] {
    const found = new Map<string, SandboxOrder>();
    for (const id of ask.searchBy ?? []) {
      for (const order of this.find(id)) found.set(order.orderId, order);
    }
    return [...found.values()].sort(byCreation).map((order) => order.orderId);
  }

  /**
   * Where the page after the cursor's order begins. The cursor names a place
   * in the order of creation, so rows inserted meanwhile neither repeat nor
   * hide others.
   */
  #afterCursor(matching: readonly SandboxOrder[], ask: OrdersAsk): number {
    const cursor = this.#known.get(ask.cursorId);
    if (cursor === undefined) return 0;
    const sign = ask.ascending ? 1 : -1;
    let low = 0;
    let high = matching.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = matching[middle];
      if (order && byCreation(order, cursor) * sign <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What decides an order's place. */
type Created = Pick<SandboxOrder, "orderId" | "createdAtMs">;

/** By second of creation, then id. */
function byCreation(a: Created, b: Created): number {
  return wholeSecond(a.createdAtMs) - wholeSecond(b.createdAtMs) ||
    (a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : 0);
}

function matches(order: SandboxOrder, ask: OrdersAsk): boolean {
  const createdMs = wholeSecond(order.createdAtMs);
  return (ask.startMs === null || createdMs > ask.startMs) &&
    (ask.endMs === null || createdMs <= ask.endMs) &&
    (ask.status === null || order.status === ask.status) &&
    (ask.commodity === null || dottedAsset(order) === ask.commodity) &&
    (ask.userIds === null || ask.userIds.has(order.userId)) &&
    (ask.cardId === null || order.cardId === ask.cardId) &&
    (ask.txId === null || order.txId === ask.txId) &&
    (ask.failReason === null || order.failReason === ask.failReason) &&
    (ask.paymentType === null || order.paymentType === ask.paymentType);
}
