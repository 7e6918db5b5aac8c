import type { CompleteWalk, IncompleteWalk } from "../../client/page.ts";
import { cryptoBytes, OVERLAP_MS, SETTLE_MS } from "./_settings.ts";
import type { Entity } from "./observations.ts";
import type { PollClient } from "./poll_client.ts";
import type { PollLedger } from "./poll_ledger.ts";
import { Recorder } from "./recorder.ts";
import type { Sweep, SweepContext, SweepRead } from "./sweep.ts";
import { sweepConfirm } from "./sweep_confirm.ts";
import { sweepOpen } from "./sweep_open.ts";
import { walkWindow } from "./walk_window.ts";
import {
  afterWindow,
  nextWindow,
  wholeSecond,
  type WindowProgress,
} from "./windows.ts";

/** Orders or users a window should hold at most. */
const itemsPerWindow = 200;

/** How often a window is walked before its proof is given up. */
const proofAttempts = 3;

/** What to recover, and with what. */
export interface RecoverOptions {
  /** The ledger that missed something. */
  readonly ledger: PollLedger;
  /** Asks the service; its own rate limit holds. */
  readonly client: PollClient;
  /** Start of the outage, in milliseconds since the epoch. */
  readonly fromMs: number;
  /**
   * End of the outage, in milliseconds since the epoch.
   *
   * @default {now}
   */
  readonly toMs?: number;
  /** The clock, in ms. @default {Date.now} */
  readonly now?: () => number;
  /** Random bytes for salts. Defaults to those of the runtime. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /** Younger than this, the past may still change, in ms. @default {60000} */
  readonly settleMs?: number;
  /** Told of each answer of the service. */
  readonly onProgress?: (read: SweepRead) => void;
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/** What was read again, and whether that is all. */
export interface RecoverReport extends SweepRead {
  /**
   * True only with proof that every order and user created from `from` up to
   * `provenUpTo` was read.
   */
  readonly complete: boolean;
  /** Why not, in one sentence; null when it is. */
  readonly why: string | null;
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
 * import { recover, openLedger } from "@rampkit/onramp/ledger";
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
 * assert.equal(complete, true, why ?? "");
 * ```
 */
export async function recover(
  options: RecoverOptions,
): Promise<RecoverReport> {
  const { ledger, client, fromMs, signal } = options;
  const now = options.now ?? Date.now;
  const toMs = options.toMs ?? now();
  if (!(toMs >= fromMs)) {
    throw new RangeError(
      `Cannot recover from ${fromMs} to ${toMs}: the window ends before it starts`,
    );
  }
  const { driver } = ledger;
  const randomBytes = options.randomBytes ?? cryptoBytes;
  const read = { orders: 0, users: 0, appended: 0 };
  const context: SweepContext = {
    client,
    driver,
    recorder: new Recorder({ driver, lease: null, now, randomBytes }),
    now,
    itemsPerWindow,
    overlapMs: OVERLAP_MS,
    settleMs: options.settleMs ?? SETTLE_MS,
    ...(signal === undefined ? {} : { signal }),
    onRead: (one) => {
      read.orders += one.orders;
      read.users += one.users;
      read.appended += one.appended;
      options.onProgress?.(one);
    },
  };
  const requests = { made: 0 };
  const orders = await count(
    requests,
    walkProven(context, "order", fromMs, toMs),
  );
  const users = await count(
    requests,
    walkProven(context, "user", fromMs, toMs),
  );
  await ledger.project();
  await count(requests, sweepConfirm(context));
  await count(requests, sweepOpen(context, { all: true, randomBytes }));
  await ledger.project();
  await ledger.chain();
  const why = orders.why ?? users.why;
  return {
    complete: why === null,
    why,
    from: iso(fromMs),
    to: iso(toMs),
    provenUpTo: iso(Math.min(orders.untilMs, users.untilMs)),
    requests: requests.made,
    ...read,
  };
}

/** What a walk has proven. */
interface Proven {
  readonly untilMs: number;
  readonly why: string | null;
}

/** Walks a stretch in windows, with proof as far as the service is settled. */
async function* walkProven(
  context: SweepContext,
  entity: Entity,
  fromMs: number,
  toMs: number,
): Sweep<Proven> {
  const query = { limit: 1 } as const;
  const page = entity === "order"
    ? await context.client.orders.page(query)
    : await context.client.users.page(query);
  yield 1;
  const settledMs = Date.parse(page.readAt) - context.settleMs;
  const untilMs = wholeSecond(Math.max(fromMs, Math.min(toMs, settledMs)));
  const startMs = wholeSecond(fromMs) - 1000;
  let why: string | null = null;
  let attempt = 1;
  let walk: WindowProgress = {
    doneUpToMs: startMs,
    spanMs: untilMs - startMs,
  };
  for (;;) {
    const window = nextWindow(walk, untilMs);
    if (window === null) break;
    const result = yield* walkWindow(context, entity, window, true);
    if (result.kind === "walked") {
      const reason = reasonOf(result.completeness);
      if (reason !== null && attempt < proofAttempts) {
        attempt += 1;
        continue;
      }
      attempt = 1;
      why ??= reason;
    }
    walk = afterWindow(walk, window, result, itemsPerWindow);
  }
  if (toMs > untilMs) {
    // Read all the same; what is this young can still change.
    const tail = { startMs: untilMs, endMs: wholeSecond(toMs) + 1000 };
    yield* walkWindow(
      { ...context, itemsPerWindow: Infinity },
      entity,
      tail,
      false,
    );
  }
  return { untilMs, why };
}

function reasonOf(completeness: CompleteWalk | IncompleteWalk): string | null {
  return completeness.complete ? null : completeness.why;
}

async function count<Result>(
  requests: { made: number },
  sweep: Sweep<Result>,
): Promise<Result> {
  for (;;) {
    const step = await sweep.next();
    if (step.done === true) return step.value;
    requests.made += step.value;
  }
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
