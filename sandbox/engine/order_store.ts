import { dottedAsset, type SandboxOrder } from "./sandbox_order.ts";
import { wholeSecond } from "../seeded/seeded_values.ts";

/** A page of orders as the service would cut it. */
export interface OrderPage {
  readonly orders: readonly SandboxOrder[];
  /** Cursor for what follows; empty when the page was not full. */
  readonly nextCursorId: string;
  readonly total: number;
}

/** Every order of the service. Creation times count in whole seconds. */
export class OrderStore {
  readonly #orders = new Map<string, SandboxOrder>();
  /** Creation of every order, removed ones too: a cursor may name them. */
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

  /** Removes an order, as if the service had never had it. */
  remove(orderId: string): void {
    this.#orders.delete(orderId);
  }

  /** Orders with this order, click or external id. */
  find(anyId: string): SandboxOrder[] {
    const ids = [anyId, ...this.#byOtherId.get(anyId) ?? []];
    return ids.flatMap((id) => this.#orders.get(id) ?? []);
  }

  /** Whether this is a valid cursor. */
  isCursor(cursorId: string): boolean {
    return cursorId === "" || this.#known.has(cursorId);
  }

  /** The page that `query` asks for, at most `most` orders long. */
  page(query: OrdersQuery, most: number): OrderPage {
    const matching = this.#matching(query);
    const length = Math.min(query.limit, most);
    const from = query.offset + this.#afterCursor(matching, query);
    const orders = matching.slice(from, from + length);
    const last = orders.at(-1);
    const full = query.limit > 0 && orders.length === length;
    return {
      orders,
      nextCursorId: full && last ? last.orderId : "",
      total: matching.length,
    };
  }

  #matching(query: OrdersQuery): SandboxOrder[] {
    const ids = query.searchBy === null
      ? this.#sorted.between(
        query.startMs ?? -Infinity,
        query.endMs ?? Infinity,
      )
      : this.#searched(query);
    if (!query.ascending) ids.reverse();
    return ids.flatMap((id) => {
      const order = this.#orders.get(id);
      return order && matches(order, query) ? order : [];
    });
  }

  #searched(query: OrdersQuery): string[] {
    const found = new Map<string, SandboxOrder>();
    for (const id of query.searchBy ?? []) {
      for (const order of this.find(id)) found.set(order.orderId, order);
    }
    return [...found.values()].sort(byCreation).map((order) => order.orderId);
  }

  /**
   * Where the page after the cursor's order begins. The cursor names a place
   * in the order of creation, so rows inserted meanwhile neither repeat nor
   * hide others.
   */
  #afterCursor(matching: readonly SandboxOrder[], query: OrdersQuery): number {
    const cursor = this.#known.get(query.cursorId);
    if (cursor === undefined) return 0;
    const sign = query.ascending ? 1 : -1;
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

/** What orders are sorted by. */
type Created = Pick<SandboxOrder, "orderId" | "createdAtMs">;

/** By second of creation, then id. */
function byCreation(a: Created, b: Created): number {
  return wholeSecond(a.createdAtMs) - wholeSecond(b.createdAtMs) ||
    (a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : 0);
}

function matches(order: SandboxOrder, query: OrdersQuery): boolean {
  const createdMs = wholeSecond(order.createdAtMs);
  return (query.startMs === null || createdMs > query.startMs) &&
    (query.endMs === null || createdMs <= query.endMs) &&
    (query.status === null || order.status === query.status) &&
    (query.commodity === null || dottedAsset(order) === query.commodity) &&
    (query.userIds === null || query.userIds.has(order.userId)) &&
    (query.cardId === null || order.cardId === query.cardId) &&
    (query.txId === null || order.txId === query.txId) &&
    (query.failReason === null || order.failReason === query.failReason) &&
    (query.paymentType === null || order.paymentType === query.paymentType);
}

/** Which orders a reader wants, and in which order. Sets are never empty. */
export interface OrdersQuery {
  readonly limit: number;
  readonly cursorId: string;
  readonly offset: number;
  readonly searchBy: ReadonlySet<string> | null;
  readonly ascending: boolean;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly status: string | null;
  readonly commodity: string | null;
  readonly userIds: ReadonlySet<string> | null;
  readonly cardId: string | null;
  readonly txId: string | null;
  readonly failReason: string | null;
  readonly paymentType: string | null;
}

/** What a list of rows is sorted by: time, then id. */
interface Row {
  readonly timeMs: number;
  readonly id: string;
}

/** Ids in the order of (time, id). */
export class SortedIds {
  readonly #rows: Row[] = [];

  /** Adds a row. */
  add(timeMs: number, id: string): void {
    const row = { timeMs, id };
    const last = this.#rows.at(-1);
    // Rows mostly arrive at the end.
    if (last === undefined || !isBefore(row, last)) this.#rows.push(row);
    else this.#rows.splice(this.#placeOf(row), 0, row);
  }

  /** Removes a row, if it is there. */
  remove(timeMs: number, id: string): void {
    const at = this.#placeOf({ timeMs, id }) - 1;
    if (this.#rows[at]?.id === id) this.#rows.splice(at, 1);
  }

  /** The id at a place of the order, or null. */
  at(place: number): string | null {
    return this.#rows[place]?.id ?? null;
  }

  /** Number of rows. */
  get size(): number {
    return this.#rows.length;
  }

  /** Ids with time after `afterMs` and up to `upToMs`, ascending. */
  between(afterMs: number, upToMs: number): string[] {
    const from = this.#firstAfter(afterMs);
    const until = this.#firstAfter(upToMs);
    return this.#rows.slice(from, until).map((row) => row.id);
  }

  /** The latest row, or null. */
  get last(): Row | null {
    return this.#rows.at(-1) ?? null;
  }

  /** Behind every row that is not after this one. */
  #placeOf(row: Row): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#rows[middle];
      if (other !== undefined && !isBefore(row, other)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #firstAfter(timeMs: number): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = this.#rows[middle];
      if (row !== undefined && row.timeMs <= timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(a: Row, b: Row): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.id < b.id);
}
