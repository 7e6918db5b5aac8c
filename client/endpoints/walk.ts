import type { Completeness } from "../../core/wire/completeness.ts";
import type { Page } from "../../core/wire/page.ts";

/**
 * A walk over all pages. Iterating it gives each item once; `pages()` gives the
 * pages as they were read, over all passes. Each iteration is a walk of its
 * own, and `completeness` speaks of the last one.
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
  /** What the last walk proves; ask after it has ended. */
  readonly completeness: Completeness;
  /** Walks, giving each item once. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, void>;
  /** Walks, giving the pages of every pass as they were read. */
  pages(): AsyncGenerator<Page<T>, void, void>;
}
