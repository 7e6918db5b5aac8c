import type { Order } from "./order.ts";
import type { OrdersQuery } from "./orders_query.ts";
import type { Page } from "./page.ts";
import { readServiceTime } from "./service_time.ts";
import type { User } from "./user.ts";
import type { UsersQuery } from "./users_query.ts";
import type { Pass } from "./walk.ts";

/** How often the same page may come at another offset: inserts can cause one. */
const patience = 3;

/** Follows cursors; a short page is no end, a cursor seen before is one. */
export function cursorPass(
  read: (query: OrdersQuery) => Promise<Page<Order>>,
  query: OrdersQuery,
): Pass<Order> {
  return async function* () {
    const seen = new Set<string>();
    let cursor = query.cursor_id ?? "";
    for (let pages = 1;; pages++) {
      seen.add(cursor);
      const page = await read(
        cursor === "" ? query : { ...query, cursor_id: cursor },
      );
      yield page;
      const next = page.nextCursorId;
      if (page.data.length === 0 || next === null) return null;
      if (seen.has(next)) {
        return `The service repeated a cursor after page ${pages}`;
      }
      cursor = next;
    }
  };
}

/** Counts offsets up until a page is empty. */
export function offsetPass<
  T,
  Q extends { readonly offset?: number },
>(
  read: (query: Q) => Promise<Page<T>>,
  query: Q,
  idOf: (item: T) => string,
): Pass<T> {
  return async function* () {
    const repeats = repeatCounter(idOf);
    let offset = query.offset ?? 0;
    for (;;) {
      const page = await read({ ...query, offset });
      yield page;
      if (page.data.length === 0) return null;
      if (repeats(page.data) >= patience) return ignoredOffset(offset);
      offset += page.data.length;
    }
  };
}

/**
 * Walks users by ascending creation time. Offsets drift while users are
 * inserted, so the window moves up instead, overlapping the last second; only
 * where more users share a moment than fit a page does the offset count.
 */
export function windowPass(
  read: (query: UsersQuery) => Promise<Page<User>>,
  query: UsersQuery,
): Pass<User> {
  return async function* () {
    const repeats = repeatCounter((user: User) => user.user_id);
    let from = query.from;
    let fromMs = from === undefined ? Number.NEGATIVE_INFINITY : toMs(from);
    let offset = 0;
    for (;;) {
      const page = await read({
        ...query,
        ...(from === undefined ? {} : { from }),
        order_by: "asc",
        offset,
      });
      yield page;
      if (page.data.length === 0) return null;
      if (repeats(page.data) >= patience) return ignoredOffset(offset);
      const firstMs = readServiceTime(page.data.at(0)?.created_at ?? "");
      const nextMs = overlapping(page.data.at(-1)?.created_at);
      // Moving up only past the first user keeps what is read twice under a page.
      if (nextMs > fromMs && firstMs !== null && firstMs <= nextMs) {
        fromMs = nextMs;
        from = new Date(nextMs);
        offset = 0;
      } else {
        offset += page.data.length;
      }
    }
  };
}

/** A whole second before a time; nothing to go by is before everything. */
function overlapping(createdAt: string | null | undefined): number {
  const time = readServiceTime(createdAt ?? "");
  return time === null
    ? Number.NEGATIVE_INFINITY
    : Math.floor(time / 1000) * 1000 - 1000;
}

function toMs(time: string | Date): number {
  return time instanceof Date ? time.getTime() : Date.parse(time);
}

/** Counts how often in a row the very same page came again. */
function repeatCounter<T>(
  idOf: (item: T) => string,
): (items: readonly T[]) => number {
  let before = "";
  let repeats = 0;
  return (items) => {
    const ids = JSON.stringify(items.map(idOf));
    repeats = ids === before ? repeats + 1 : 0;
    before = ids;
    return repeats;
  };
}

function ignoredOffset(offset: number): string {
  return `The service gave the same page again and again up to offset ${offset}`;
}
