import { ResponseError } from "../../../client/mod.ts";
import type { Completeness, Page } from "../../../core/wire/objects.ts";
import { isFinal } from "../../../ledger/for_sync.ts";
import type { FoldCode } from "../../../ledger/testing/mod.ts";
import type { PollClient, PollWalk } from "../../../sync/mod.ts";
import { broke } from "./broke.ts";
import { asReading, fold } from "./broken_ports.ts";

/** A client whose walks over orders are made in another way. */
function walkingBy(
  next: PollClient,
  walk: PollClient["orders"]["list"],
): PollClient {
  return {
    orders: { page: (...asked) => next.orders.page(...asked), list: walk },
    users: next.users,
  };
}

/** A client that gives a page up where one row of it is odd. */
export function allOrNothing(next: PollClient): PollClient {
  const whole = <T>(page: Page<T>): Page<T> => {
    if (page.oddFields.length + page.rowsWithoutId.length === 0) return page;
    broke();
    throw new ResponseError("Cannot read the page: a row is odd", {
      code: "wrong_shape",
      status: 200,
      requestId: null,
    });
  };
  const ofWalk = <T>(walk: PollWalk<T>): PollWalk<T> => ({
    async *pages() {
      for await (const page of walk.pages()) yield whole(page);
    },
    get completeness() {
      return walk.completeness;
    },
  });
  return {
    orders: {
      page: async (...asked) => whole(await next.orders.page(...asked)),
      list: (...asked) => ofWalk(next.orders.list(...asked)),
    },
    users: {
      page: async (...asked) => whole(await next.users.page(...asked)),
      list: (...asked) => ofWalk(next.users.list(...asked)),
    },
  };
}

/** A client that follows any cursor, wherever that leads. */
export function followingCursors(next: PollClient): PollClient {
  return walkingBy(next, (query = {}, { signal } = {}) => ({
    async *pages() {
      for (let cursor_id: string | null = ""; cursor_id !== null;) {
        broke();
        const asked = { limit: 20, ...query, cursor_id };
        const page = await next.orders.page(
          asked,
          signal === undefined ? {} : { signal },
        );
        yield page;
        cursor_id = page.data.length === 0 ? null : page.nextCursorId;
      }
    },
    completeness: proven,
  }));
}

const proven: Completeness = {
  complete: true,
  exhausted: true,
  pages: 1,
  items: 1,
  passes: 1,
  total: null,
  warnings: [],
};

/** Pages up to the first that has no cursor because the service has none. */
export async function* withCursors<T>(
  pages: AsyncIterable<Page<T>>,
): AsyncGenerator<Page<T>> {
  for await (const page of pages) {
    yield page;
    if (page.pagedBy === "offset") return broke();
  }
}

/**
 * A fetch for which an id that was once asked for beside a refused one is
 * refused as well, as if no batch were ever split.
 */
export function inseparable(next: typeof fetch): typeof fetch {
  const spoilt = new Set<string>();
  return async (input, init) => {
    const { searchParams } = new URL(
      input instanceof Request ? input.url : input,
    );
    const ids = ["search_by", "user_ids"].flatMap((name) =>
      (searchParams.get(name) ?? "").split(",").filter((id) => id !== "")
    );
    if (ids.some((id) => spoilt.has(id))) {
      broke();
      return Response.json({ message: "forbidden" }, { status: 403 });
    }
    const response = await next(input, init);
    if ([400, 403].includes(response.status)) {
      for (const id of ids) spoilt.add(id);
    }
    return response;
  };
}

/**
 * The fold, by which a final claim that comes after a reading of a final status
 * is a reading too, older than all others.
 */
export function withClaimsAsReadings(): FoldCode {
  const finalAt = new Map<string, number>();
  return fold((fact) => {
    const { orderId, position } = fact;
    if (orderId === null) return fact;
    if (fact.kind === "order_snapshot" && isFinal(fact.reading.status)) {
      const before = finalAt.get(orderId) ?? Infinity;
      finalAt.set(orderId, Math.min(before, position));
    }
    if (fact.kind !== "webhook" || fact.claim === null) return fact;
    if (!isFinal(fact.claim)) return fact;
    if (position < (finalAt.get(orderId) ?? Infinity)) return fact;
    const read = asReading(fact);
    return read.kind === "order_snapshot"
      ? { ...read, reading: { ...read.reading, changedAt: "" } }
      : fact;
  });
}
