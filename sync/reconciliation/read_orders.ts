import { isRequestable } from "../../core/wire/requestable_id.ts";
import { requestEach } from "../polling/request_each.ts";
import { ITEMS_PER_REQUEST } from "../polling/staleness.ts";
import { runToEnd } from "../walk/steps.ts";
import { besidePoller, type BesidePollerOptions } from "./beside_poller.ts";

/**
 * Asks the service for orders by id, records what it says, also that it has no
 * such order, and folds. Runs beside a poller.
 *
 * @param options What to ask and to record with.
 * @param orderIds The orders; an id that cannot be requested is passed over.
 * @throws {OnrampError} When the service fails; what was read stays.
 * @throws {LedgerError} When the database fails.
 *
 * @example Ask for an order that only a webhook named
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { readOrders } from "@rampkit/onramp/sync";
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: "key",
 *   fetch: () => Promise.resolve(Response.json({ success: true, data: [], total: 0 })),
 *   requestsPerSecond: 1000,
 * });
 * await readOrders({ ledger, client }, ["01KA0000000000000000000000"]);
 * const order = await ledger.orders.get("01KA0000000000000000000000");
 * assert.equal(order?.confirmed ?? null, null);
 * ```
 */
export async function readOrders(
  options: BesidePollerOptions,
  orderIds: readonly string[],
): Promise<void> {
  const context = await besidePoller(options, () => {});
  const ids = orderIds.filter(isRequestable);
  for (let from = 0; from < ids.length; from += ITEMS_PER_REQUEST) {
    options.signal?.throwIfAborted();
    const some = ids.slice(from, from + ITEMS_PER_REQUEST);
    await runToEnd(requestEach(context, "order", some, () => []));
  }
  await options.ledger.project();
}
