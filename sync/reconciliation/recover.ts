import type { IncompleteReason } from "../../core/wire/objects.ts";
import { ENTITIES, goLive } from "../../ledger/for_sync.ts";
import { plausibleNowMs } from "../../core/time/service_time.ts";
import {
  addRead,
  NOTHING_READ,
  Recorder,
  recordingWalk,
  type SweepRead,
} from "../recording/recorder.ts";
import {
  ITEMS_PER_REQUEST,
  POLLER_DEFAULTS,
  requestEach,
  sweepConfirm,
  type SweepContext,
  sweepOpen,
} from "../polling/sweeps.ts";
import {
  type PollClient,
  requestOldest,
  runToEnd,
  type Steps,
  walkSettled,
  wholeSecond,
} from "../walk/walk.ts";
import { defined } from "../../core/guards.ts";
import type { PollLedger } from "../polling/poller.ts";

/** What to recover, and with what. */
export interface RecoverOptions extends BesidePollerOptions {
  /** Start of the outage, in milliseconds since the epoch. */
  readonly fromMs: number;
  /**
   * End of the outage, in milliseconds since the epoch.
   *
   * @default {now}
   */
  readonly toMs?: number;
  /** Called with each response of the service. */
  readonly onProgress?: (read: SweepRead) => void;
}

/** What was read again, and whether that is everything. */
export interface RecoverReport extends SweepRead {
  /**
   * True only with proof that every order and user created from `from` up to
   * `provenUpTo` was read.
   */
  readonly complete: boolean;
  /** Why not; null when it is. */
  readonly why: IncompleteReason | null;
  /** Start of the window, UTC ISO 8601. */
  readonly from: string;
  /** End of the window, UTC ISO 8601. */
  readonly to: string;
  /** End of what can be proven: what is younger may still change. */
  readonly provenUpTo: string;
  /** Requests made. */
  readonly requests: number;
}

/**
 * Reads everything again after an outage: orders and users created in the
 * window, with proof; every open order, whenever it was created; whatever
 * webhooks named. Then folds. Runs beside a poller.
 *
 * @param options What to recover.
 * @throws {RangeError} When the window ends before it starts.
 * @throws {OnrampError} When the service fails; what was read stays.
 * @throws {LedgerError} When the database fails.
 *
 * @example After a night without webhooks
 * ```ts
 * import { recover } from "@rampkit/onramp/sync";
 * import { openLedger } from "@rampkit/onramp/ledger";
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
 * const fromMs = Date.now() - 8 * 3_600_000;
 * const { complete, why } = await recover({ ledger, client, fromMs });
 * assert.equal(complete, true, `${why?.code}`);
 * ```
 */
export async function recover(
  options: RecoverOptions,
): Promise<RecoverReport> {
  const { ledger, fromMs } = options;
  const now = options.now ?? Date.now;
  const toMs = options.toMs ?? now();
  if (!(toMs >= fromMs)) {
    throw new RangeError(
      `Cannot recover from ${fromMs} to ${toMs}: the window ends before it starts`,
    );
  }
  let read = NOTHING_READ;
  const context = await besidePoller(options, (one) => {
    read = addRead(read, one);
    options.onProgress?.(one);
  });
  let requests = 0;
  const run = <Result>(steps: Steps<Result>) =>
    runToEnd(steps, (made) => requests += made);
  const whys: (IncompleteReason | null)[] = [];
  let provenMs = toMs;
  for (const entity of ENTITIES) {
    const { readAt } = await requestOldest(context, entity);
    requests += 1;
    const window = {
      fromMs: wholeSecond(fromMs) - 1000,
      toMs: wholeSecond(toMs) + 1000,
      serviceMs: plausibleNowMs(readAt, context.now()),
    };
    const recording = recordingWalk(context, entity);
    const { untilMs, why } = await run(walkSettled(recording, window));
    provenMs = Math.min(provenMs, untilMs);
    whys.push(why);
  }
  await ledger.project();
  await run(sweepConfirm(context));
  await run(sweepOpen(context, { all: true }));
  await ledger.project();
  const why = whys.find((one) => one !== null) ?? null;
  return {
    complete: why === null,
    why,
    from: iso(fromMs),
    to: iso(toMs),
    provenUpTo: iso(Math.max(fromMs, provenMs)),
    requests,
    ...read,
  };
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

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
  const nothing = { leave: () => [], settle: () => [] };
  for (let from = 0; from < orderIds.length; from += ITEMS_PER_REQUEST) {
    options.signal?.throwIfAborted();
    const some = orderIds.slice(from, from + ITEMS_PER_REQUEST);
    await runToEnd(requestEach(context, "order", some, nothing));
  }
  await options.ledger.project();
}

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
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/**
 * What to work with beside a poller: nothing is written under its lease. A
 * ledger that is not live goes live, as with a poller: what had happened before
 * somebody first asked is historic.
 */
async function besidePoller(
  options: BesidePollerOptions,
  onRead: SweepContext["onRead"],
): Promise<SweepContext> {
  const work = { ...POLLER_DEFAULTS, now: Date.now, ...defined(options) };
  const { ledger: { driver }, now, randomBytes } = work;
  await goLive(driver, undefined, now());
  const recorder = new Recorder({ driver, lease: null, now, randomBytes });
  return { ...work, driver, recorder, onRead };
}
