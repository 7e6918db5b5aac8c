import {
  type Completeness,
  describeIncomplete,
  type IncompleteReason,
  type Page,
  rowsOn,
} from "../core/wire/objects.ts";
import { readServiceTime } from "../core/time/service_time.ts";

/**
 * A walk over all pages. Iterating it gives each item once; `pages()` gives the
 * pages as they were read, over all passes. Each iteration is a walk of its
 * own, and `completeness` is that of the last one.
 *
 * @example Read every order of a day
 * ```ts
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: "key",
 *   fetch: () => Promise.resolve(Response.json({ success: true, data: [], total: 0 })),
 *   requestsPerSecond: 1000,
 * });
 * const walk = client.orders.list({
 *   start_date: "2026-01-01T00:00:00Z",
 *   end_date: "2026-01-02T00:00:00Z",
 * }, { prove: true });
 * for await (const order of walk) assert.fail(order.order_id);
 * assert.equal(walk.completeness.complete, true);
 * ```
 */
export interface Walk<T> extends AsyncIterable<T> {
  /** What the last walk proves; read it once the walk has ended. */
  readonly completeness: Completeness;
  /** Walks, giving each item once. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, void>;
  /** Walks, giving the pages of every pass as they were read. */
  pages(): AsyncGenerator<Page<T>, void, void>;
}

/** One pass: yields pages, returns why it did not reach its end, or null. */
export type Pass<T> = () => AsyncGenerator<
  Page<T>,
  IncompleteReason | null,
  void
>;

/** How to walk, and what the walk can prove. */
export interface WalkPlan<T> {
  /** Identifier of an item. */
  readonly idOf: (item: T) => string;
  /** The pass whose order the reader asked for. */
  readonly first: Pass<T>;
  /** The pass in the other direction; null when no proof is asked for. */
  readonly second: Pass<T> | null;
  /** Why such a walk can prove nothing; null if it can prove something. */
  readonly unprovable: IncompleteReason | null;
  /** End of the window, milliseconds since 1970; null when it is open. */
  readonly windowEndMs: number | null;
  /** How long after its creation an item may still appear, in milliseconds. */
  readonly settleMs: number;
}

/** One pass over a window, as it went. */
export interface PassEvidence {
  /** Distinct identifiers seen. */
  readonly ids: ReadonlySet<string>;
  /** Distinct rows seen that state no usable identifier. */
  readonly rowsWithoutId: number;
  /** Why the pass did not reach its end; null when it did. */
  readonly broken: IncompleteReason | null;
  /** The first `total` the service stated; null when it stated none. */
  readonly total: number | null;
}

/** All that is known about a walk. */
export interface WalkEvidence
  extends Pick<WalkPlan<unknown>, "unprovable" | "windowEndMs" | "settleMs"> {
  /** The service's time on the first page, milliseconds since 1970. */
  readonly serviceNowMs: number | null;
  /** Pages read, over all passes. */
  readonly pages: number;
  /** The passes, in order. */
  readonly passes: readonly PassEvidence[];
  /** Whether the reader stopped before the walk was over. */
  readonly stopped: boolean;
}

/**
 * Pages in a row that may hold nothing new. Rows that appear meanwhile shift
 * the others onto the next page, but a service that ignores the offset, or
 * gives new cursors to old pages, must not hold the reader for ever.
 */
const PATIENCE = 3;

/** The walk over the passes of a plan. */
export class PagedWalk<T> implements Walk<T> {
  readonly #plan: WalkPlan<T>;
  completeness: Completeness = incomplete({ code: "not_begun" }, {
    pages: 0,
    items: 0,
    passes: 0,
    exhausted: false,
    total: null,
    warnings: [],
  });

  constructor(plan: WalkPlan<T>) {
    this.#plan = plan;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    const given = new Set<string>();
    for await (const page of this.pages()) {
      for (const item of page.data) {
        const id = this.#plan.idOf(item);
        if (given.has(id)) continue;
        given.add(id);
        yield item;
      }
    }
  }

  async *pages(): AsyncGenerator<Page<T>, void, void> {
    const { first, second, unprovable, windowEndMs, settleMs } = this.#plan;
    const passes: PassEvidence[] = [];
    const progress = { pages: 0, serviceNowMs: null as number | null };
    const state = (stopped: boolean) =>
      assessWalk({
        ...{ unprovable, windowEndMs, settleMs, passes, stopped },
        ...progress,
      });
    this.completeness = state(true);
    const queue = [first];
    if (second !== null && unprovable === null) queue.push(second);
    let ended = false;
    try {
      for (let at = 0; at < queue.length; at++) {
        const pass = queue[at] as Pass<T>;
        const evidence = yield* this.#walk(pass(), passes, progress);
        if (evidence.broken !== null) break;
        // An odd total is worth one more look, but decides nothing.
        if (at === 1 && queue.length === 2 && passes.some(totalIsOdd)) {
          queue.push(first);
        }
      }
      ended = true;
    } finally {
      this.completeness = state(!ended);
    }
  }

  /** Walks one pass, noting what it shows as it goes. */
  async *#walk(
    pages: ReturnType<Pass<T>>,
    passes: PassEvidence[],
    progress: { pages: number; serviceNowMs: number | null },
  ): AsyncGenerator<Page<T>, PassEvidence, void> {
    const ids = new Set<string>();
    const unknownRows = new Set<string>();
    const evidence = {
      ids,
      rowsWithoutId: 0,
      broken: null as IncompleteReason | null,
      total: null as number | null,
    };
    passes.push(evidence);
    let pagesInVain = 0;
    try {
      while (pagesInVain < PATIENCE) {
        const step = await pages.next();
        if (step.done) {
          evidence.broken = step.value;
          return evidence;
        }
        const page = step.value;
        progress.pages++;
        progress.serviceNowMs ??= Date.parse(page.readAt);
        // Later windows of a walk of users count less than the whole.
        evidence.total ??= page.total;
        const before = ids.size + unknownRows.size;
        for (const item of page.data) ids.add(this.#plan.idOf(item));
        for (const row of page.rowsWithoutId) unknownRows.add(row);
        evidence.rowsWithoutId = unknownRows.size;
        yield page;
        const isNew = ids.size + unknownRows.size > before;
        pagesInVain = isNew || rowsOn(page) === 0 ? 0 : pagesInVain + 1;
      }
      evidence.broken = { code: "items_repeated", page: progress.pages };
      return evidence;
    } finally {
      await pages.return(null);
    }
  }
}

/**
 * Decides whether a walk has seen everything.
 *
 * It has if the window lies in the past, each pass reached its end, each row
 * had an identifier, and passes in both directions saw the same. The service's
 * `total` proves nothing: a wrong one is a warning.
 */
export function assessWalk(evidence: WalkEvidence): Completeness {
  const { passes, pages, stopped } = evidence;
  const all = new Set(passes.flatMap(({ ids }) => [...ids]));
  const facts = {
    pages,
    items: all.size,
    passes: passes.length,
    exhausted: !stopped && passes.length > 0 &&
      passes.every((pass) => pass.broken === null && pass.rowsWithoutId === 0),
    total: passes.findLast((pass) => pass.total !== null)?.total ?? null,
    warnings: [
      ...new Set(
        passes.filter((pass) => pass.broken === null && totalIsOdd(pass)).map(
          (pass) =>
            pass.total === null
              ? "The service stated no total"
              : `The service stated a total of ${pass.total}, but ` +
                `${rowsOf(pass)} were read`,
        ),
      ),
    ],
  };
  const reason = reasonAgainst(evidence, all.size);
  return reason === null
    ? { complete: true, ...facts }
    : incomplete(reason, facts);
}

function incomplete(
  reason: IncompleteReason,
  facts: Omit<Completeness, "complete" | "reason" | "why">,
): Completeness {
  return { complete: false, reason, why: describeIncomplete(reason), ...facts };
}

function totalIsOdd(pass: PassEvidence): boolean {
  return pass.total !== rowsOf(pass);
}

function rowsOf(pass: PassEvidence): number {
  return pass.ids.size + pass.rowsWithoutId;
}

function reasonAgainst(
  { passes, stopped, unprovable, windowEndMs, serviceNowMs, settleMs }:
    WalkEvidence,
  items: number,
): IncompleteReason | null {
  if (stopped) return { code: "stopped" };
  const broken = passes.find((pass) => pass.broken !== null)?.broken;
  if (broken) return broken;
  const rows = Math.max(0, ...passes.map((pass) => pass.rowsWithoutId));
  if (rows > 0) return { code: "rows_without_id", rows };
  if (unprovable !== null) return unprovable;
  if (windowEndMs === null) return { code: "window_open" };
  if (serviceNowMs === null || windowEndMs > serviceNowMs - settleMs) {
    return { code: "window_too_young", settleMs };
  }
  if (passes.length < 2) return { code: "one_pass" };
  const seen = passes.map((pass) => pass.ids.size);
  return seen.some((count) => count !== items)
    ? { code: "passes_differ", seen, together: items }
    : null;
}

/**
 * Follows cursors. A short page does not end the pass; a cursor seen before
 * does. The earlier form of the endpoint has no cursors: if the first page has
 * none, the pass goes on by offset, to an empty page, or to a short one by which
 * the service has shown as many as it counts.
 */
export function cursorPass<
  T,
  Q extends { readonly cursor_id?: string; readonly limit?: number },
>(
  read: (query: Q & { readonly offset?: number }) => Promise<Page<T>>,
  query: Q,
): Pass<T> {
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
        const isEnd = (page: Page<T>, offset: number) =>
          rowsOn(page) < (query.limit ?? 10) && page.total === offset;
        const offset = rowsOn(page);
        return offset === 0 || isEnd(page, offset)
          ? null
          : yield* offsetPass(read, { ...query, offset }, isEnd)();
      }
      if (rowsOn(page) === 0 || next === null) return null;
      if (seen.has(next)) return { code: "cursor_repeated", page: pages };
      cursor = next;
    }
  };
}

/** Counts offsets up until a page is empty, or the last one by other signs. */
export function offsetPass<T, Q extends { readonly offset?: number }>(
  read: (query: Q) => Promise<Page<T>>,
  query: Q,
  isEnd: (page: Page<T>, offset: number) => boolean = () => false,
): Pass<T> {
  return async function* () {
    let offset = query.offset ?? 0;
    for (;;) {
      const page = await read({ ...query, offset });
      yield page;
      offset += rowsOn(page);
      if (rowsOn(page) === 0 || isEnd(page, offset)) return null;
    }
  };
}

/** How far the service's clock may be ahead of what else is known, in ms. */
const AHEAD_MS = 5 * 60_000;

/**
 * Walks by ascending creation time. Offsets drift while items are inserted, so
 * the window moves up instead, overlapping the last second; only where more
 * items share a moment than fit a page does the offset count.
 */
export function windowPass<
  T extends { readonly created_at?: string | null },
  Q extends { readonly from?: string | Date },
>(
  read: (query: Q & { order_by: "asc"; offset: number }) => Promise<Page<T>>,
  query: Q,
  now: () => number,
): Pass<T> {
  return async function* () {
    let from = query.from;
    let fromMs = from === undefined ? -Infinity : new Date(from).getTime();
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
      const lastMs = readServiceTime(page.data.at(-1)?.created_at ?? "");
      const nextMs = lastMs === null
        ? -Infinity
        : Math.floor(lastMs / 1000) * 1000 - 1000;
      // A time to come, which no item can have, would jump over all the others.
      const believedMs = Math.min(now(), Date.parse(page.readAt)) + AHEAD_MS;
      // Moving up only past the first one keeps what is read twice under a page.
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
