import { isRequestable } from "../../core/wire/identifier.ts";
import { requestEach } from "../polling/request_each.ts";
import { ITEMS_PER_REQUEST } from "../polling/staleness.ts";
import { runToEnd } from "../walk/steps.ts";
import { goLive } from "../../ledger/for_sync.ts";
import { CONTRADICTED_AFTER_MS } from "../recording/contradiction.ts";
import type { PollClient } from "../walk/poll_client.ts";
import type { PollLedger } from "../polling/poll_ledger.ts";
import {
  cryptoBytes,
  OVERLAP_MS,
  SETTLE_MS,
} from "../polling/poller_settings.ts";
import type { SweepContext } from "../polling/sweep_context.ts";
import { Recorder } from "../recording/recorder.ts";

/**
 * Asks the service for orders by id, records what it says, also that it has no
 * such order, and folds. Runs beside a poller.
 *
 * @param options What to ask and to record with.
 * @param orderIds The orders; an id that cannot be requested is skipped.
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

/** Orders or users a window should hold at most. */
const ITEMS_PER_WINDOW = 200;

/** Options of work that runs beside a poller. */
export interface BesidePollerOptions {
  /** The ledger to record in. */
  readonly ledger: PollLedger;
  /** Makes the requests; its own rate limit holds. */
  readonly client: PollClient;
  /** The clock, in ms. @default {Date.now} */
  readonly now?: () => number;
  /** Random bytes for salts. Defaults to those of the runtime. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /** Younger than this, the past may still change, in ms. @default {60000} */
  readonly settleMs?: number;
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/**
 * What to work with beside a poller: nothing is written under its lease. A
 * ledger that is not live goes live, as with a poller: what had happened before
 * somebody first asked is historic.
 */
export async function besidePoller(
  options: BesidePollerOptions,
  onRead: SweepContext["onRead"],
): Promise<SweepContext> {
  const { ledger: { driver }, client, signal } = options;
  const now = options.now ?? Date.now;
  const randomBytes = options.randomBytes ?? cryptoBytes;
  await goLive(driver, undefined, now());
  return {
    client,
    driver,
    recorder: new Recorder({ driver, lease: null, now, randomBytes }),
    now,
    randomBytes,
    itemsPerWindow: ITEMS_PER_WINDOW,
    overlapMs: OVERLAP_MS,
    settleMs: options.settleMs ?? SETTLE_MS,
    contradictedAfterMs: CONTRADICTED_AFTER_MS,
    ...(signal === undefined ? {} : { signal }),
    onRead,
  };
}
