import { assessWalk, type PassEvidence, totalIsOdd } from "./assess_walk.ts";
import {
  type Completeness,
  describeIncomplete,
  type IncompleteReason,
} from "../../core/wire/completeness.ts";
import { type Page, rowsOn } from "../../core/wire/page.ts";

/**
 * Pages in a row that may hold nothing new. Rows that appear meanwhile shift
 * the others onto the next page, but a service that ignores the offset, or
 * gives new cursors to old pages, must not hold the reader for ever.
 */
const patience = 3;

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

const NOT_BEGUN: IncompleteReason = { code: "not_begun" };

/** The walk over the passes of a plan. */
export class PagedWalk<T> implements Walk<T> {
  readonly #plan: WalkPlan<T>;
  #completeness: Completeness = {
    complete: false,
    reason: NOT_BEGUN,
    why: describeIncomplete(NOT_BEGUN),
    pages: 0,
    items: 0,
    passes: 0,
    exhausted: false,
    total: null,
    warnings: [],
  };

  /** Creates a walk; `orders.list` and `users.list` call this. */
  constructor(plan: WalkPlan<T>) {
    this.#plan = plan;
  }

  /** What the last walk proves; read it once the walk has ended. */
  get completeness(): Completeness {
    return this.#completeness;
  }

  /** Walks, giving each item once. */
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

  /** Walks, giving the pages of every pass as they were read. */
  async *pages(): AsyncGenerator<Page<T>, void, void> {
    const { first, second, unprovable } = this.#plan;
    const passes: PassEvidence[] = [];
    const progress = { pages: 0, serviceNowMs: null as number | null };
    const state = (stopped: boolean) =>
      assessWalk({
        unprovable,
        windowEndMs: this.#plan.windowEndMs,
        serviceNowMs: progress.serviceNowMs,
        settleMs: this.#plan.settleMs,
        pages: progress.pages,
        passes,
        stopped,
      });
    this.#completeness = state(true);
    const queue = [first];
    if (second !== null && unprovable === null) queue.push(second);
    let ended = false;
    try {
      for (let at = 0; at < queue.length; at++) {
        const pass = queue[at];
        if (pass === undefined) break;
        const evidence = {
          ids: new Set<string>(),
          rowsWithoutId: 0,
          broken: null as IncompleteReason | null,
          total: null as number | null,
        };
        const unknownRows = new Set<string>();
        let pagesInVain = 0;
        passes.push(evidence);
        const pages = pass();
        try {
          for (;;) {
            const step = await pages.next();
            if (step.done) {
              evidence.broken = step.value;
              break;
            }
            const page = step.value;
            progress.pages++;
            progress.serviceNowMs ??= Date.parse(page.readAt);
            // Later windows of a walk of users count less than the whole.
            evidence.total ??= page.total;
            const before = evidence.ids.size + evidence.rowsWithoutId;
            for (const item of page.data) {
              evidence.ids.add(this.#plan.idOf(item));
            }
            for (const row of page.rowsWithoutId) unknownRows.add(row);
            evidence.rowsWithoutId = unknownRows.size;
            yield page;
            const isNew = evidence.ids.size + evidence.rowsWithoutId > before;
            pagesInVain = isNew || rowsOn(page) === 0 ? 0 : pagesInVain + 1;
            if (pagesInVain >= patience) {
              evidence.broken = {
                code: "items_repeated",
                page: progress.pages,
              };
              break;
            }
          }
        } finally {
          await pages.return(null);
        }
        if (evidence.broken !== null) break;
        // An odd total is worth one more look, but decides nothing.
        if (at === 1 && queue.length === 2 && passes.some(totalIsOdd)) {
          queue.push(first);
        }
      }
      ended = true;
    } finally {
      this.#completeness = state(!ended);
    }
  }
}

/** One pass: yields pages, returns why it did not reach its end, or null. */
export type Pass<T> = () => AsyncGenerator<
  Page<T>,
  IncompleteReason | null,
  void
>;

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
