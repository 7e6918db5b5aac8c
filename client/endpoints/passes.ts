import type { Order } from "../../core/wire/order.ts";
import type { OrdersQuery, UsersQuery } from "../../core/wire/queries.ts";
import { type Page, rowsOn } from "../../core/wire/page.ts";
import { readServiceTime } from "../../core/time/service_time.ts";
import type { User } from "../../core/wire/user.ts";
import type { Pass } from "./paged_walk.ts";

/**
 * Follows cursors. A short page does not end the pass; a cursor seen before
 * does. The earlier form of the endpoint has no cursors: if the first page has
 * none, the pass goes on by offset.
 */
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
      if (next === null && page.pagedBy === "offset" && cursor === "") {
        return yield* onByOffset(read, query, page);
      }
      if (rowsOn(page) === 0 || next === null) return null;
      if (seen.has(next)) {
        return { code: "cursor_repeated", page: pages };
      }
      cursor = next;
    }
  };
}

/**
 * Continues by offset after a first page without cursor. It ends at an empty
 * page, or at a short one by which the service has shown as many as it counts.
 */
async function* onByOffset(
  read: (query: OrdersQuery) => Promise<Page<Order>>,
  query: OrdersQuery,
  first: Page<Order>,
): ReturnType<Pass<Order>> {
  const { limit = 10 } = query;
  let page = first;
  let offset = 0;
  for (;;) {
    const rows = rowsOn(page);
    offset += rows;
    if (rows === 0 || (rows < limit && page.total === offset)) return null;
    page = await read({ ...query, offset });
    yield page;
  }
}

/** Counts offsets up until a page is empty. */
export function offsetPass<T, Q extends { readonly offset?: number }>(
  read: (query: Q) => Promise<Page<T>>,
  query: Q,
): Pass<T> {
  return async function* () {
    let offset = query.offset ?? 0;
    for (;;) {
      const page = await read({ ...query, offset });
      yield page;
      if (rowsOn(page) === 0) return null;
      offset += rowsOn(page);
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
  now: () => number,
): Pass<User> {
  return async function* () {
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
      if (rowsOn(page) === 0) return null;
      const firstMs = readServiceTime(page.data.at(0)?.created_at ?? "");
      const nextMs = overlapping(page.data.at(-1)?.created_at);
      // A time to come, which no user can have, would jump over all the others.
      const believedMs = Math.min(now(), Date.parse(page.readAt)) + aheadMs;
      // Moving up only past the first user keeps what is read twice under a page.
      if (
        nextMs > fromMs && nextMs <= believedMs &&
        firstMs !== null && firstMs <= nextMs
      ) {
        fromMs = nextMs;
        from = new Date(nextMs);
        offset = 0;
      } else {
        offset += rowsOn(page);
      }
    }
  };
}

/** How far the service's clock may be ahead of what else is known, in ms. */
const aheadMs = 5 * 60_000;

/** A whole second before a time; minus infinity when the time cannot be read. */
function overlapping(createdAt: string | null | undefined): number {
  const time = readServiceTime(createdAt ?? "");
  return time === null
    ? Number.NEGATIVE_INFINITY
    : Math.floor(time / 1000) * 1000 - 1000;
}

function toMs(time: string | Date): number {
  return time instanceof Date ? time.getTime() : Date.parse(time);
}
