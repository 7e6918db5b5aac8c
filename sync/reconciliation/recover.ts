import type { IncompleteReason } from "../../core/wire/completeness.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import { plausibleNowMs } from "../../core/time/plausible_time.ts";
import { recordingWalk, type SweepRead } from "../recording/record_page.ts";
import { besidePoller, type BesidePollerOptions } from "./read_orders.ts";
import { sweepConfirm } from "../polling/sweep_confirm.ts";
import type { SweepContext } from "../polling/sweep_context.ts";
import { sweepOpen } from "../polling/sweep_open.ts";
import { requestOldest } from "../walk/service_lists.ts";
import { runToEnd, type Steps } from "../walk/steps.ts";
import { walkRange } from "../walk/walk_range.ts";
import { wholeRange, wholeSecond } from "../walk/windows.ts";

/** How often a window is walked before its proof is given up. */
const proofAttempts = 3;

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
  const read = { orders: 0, users: 0, appended: 0 };
  const context = await besidePoller(options, (one) => {
    read.orders += one.orders;
    read.users += one.users;
    read.appended += one.appended;
    options.onProgress?.(one);
  });
  let requests = 0;
  const count = (made: number) => requests += made;
  const orders = await runToEnd(
    walkProven(context, "order", fromMs, toMs),
    count,
  );
  const users = await runToEnd(
    walkProven(context, "user", fromMs, toMs),
    count,
  );
  await ledger.project();
  await runToEnd(sweepConfirm(context), count);
  await runToEnd(sweepOpen(context, { all: true }), count);
  await ledger.project();
  const why = orders.why ?? users.why;
  return {
    complete: why === null,
    why,
    from: iso(fromMs),
    to: iso(toMs),
    provenUpTo: iso(Math.min(orders.untilMs, users.untilMs)),
    requests,
    ...read,
  };
}

/** What a walk has proven. */
interface Proven {
  /** End of what can be proven, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** Why it is not proven; null when it is. */
  readonly why: IncompleteReason | null;
}

/** Walks a range with proof as far as the service is settled. */
async function* walkProven(
  context: SweepContext,
  entity: Entity,
  fromMs: number,
  toMs: number,
): Steps<Proven> {
  const { readAt } = await requestOldest(context, entity);
  yield 1;
  const settledMs = plausibleNowMs(readAt, context.now()) - context.settleMs;
  const untilMs = wholeSecond(Math.max(fromMs, Math.min(toMs, settledMs)));
  const recording = recordingWalk(context, entity);
  let why: IncompleteReason | null = null;
  yield* walkRange(recording, {
    entity,
    from: wholeRange(wholeSecond(fromMs) - 1000, untilMs),
    untilMs,
    prove: true,
    attempts: proofAttempts,
    onWindow: ({ outcome }) => {
      if (outcome.kind === "walked") why ??= outcome.reason;
    },
  });
  if (toMs > untilMs) {
    // Read all the same; what is this young can still change.
    const tailMs = wholeSecond(toMs) + 1000;
    yield* walkRange(recording, {
      entity,
      from: wholeRange(untilMs, tailMs),
      untilMs: tailMs,
      prove: false,
    });
  }
  return { untilMs, why };
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
