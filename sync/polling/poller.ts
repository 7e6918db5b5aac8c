import {
  goLive,
  POLL_LEASE,
  releaseLease,
  takeLease,
} from "../../ledger/for_sync.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { addRead, NOTHING_READ } from "../recording/recorder.ts";
import { isServiceFailure, type ServiceFailure } from "../walk/walk.ts";
import { RequestMeter, SWEEP_KINDS, type SweepKind } from "./fair_share.ts";
import { PollFailures } from "./poll_health.ts";
import { readPollStatus } from "./poll_status.ts";
import {
  type Poller,
  type PollerOptions,
  pollerSettings,
  type PollReport,
} from "./poller_options.ts";
import { readNewProgress } from "./sweep_created.ts";
import {
  FAILURE_PAUSES,
  type PollSession,
  pollSession,
  SweepScheduler,
} from "./sweep_scheduler.ts";

/**
 * Creates a poller.
 *
 * @param options Ledger, client, and how to poll.
 * @throws {RangeError} When the rate or a share is not a positive number.
 *
 * @example Poll once
 * ```ts
 * import { createPoller } from "@rampkit/onramp/sync";
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
 * const report = await createPoller({ ledger, client }).once();
 * assert.ok(report.ran && report.status.orders.complete);
 * ```
 */
export function createPoller(options: PollerOptions): Poller {
  const settings = pollerSettings(options);
  const { ledger: { driver }, now, sleep, renewMs } = settings;
  const meter = new RequestMeter(settings, settings.steadyNow);
  const failures = new PollFailures(settings);
  let total = NOTHING_READ;
  let isLive = false;
  let scheduler: SweepScheduler | null = null;
  const isoNow = () => new Date(now()).toISOString();
  const status = () => readPollStatus(driver, now());

  /** Takes the lease, or says who holds it. */
  async function begin(signal: AbortSignal | undefined) {
    if (!isLive) await goLive(driver, undefined, now());
    isLive = true;
    const { holder, leaseMs } = settings;
    const lease = await takeLease(driver, {
      name: POLL_LEASE,
      holder,
      leaseMs,
    });
    if (!("fence" in lease)) return lease;
    return pollSession(
      {
        ...{ settings, meter, failures },
        onRead: (sweep, read) => {
          total = addRead(total, read);
          const made = Object.values(meter.requests);
          const requests = made.reduce((sum, one) => sum + one);
          settings.onProgress?.({ sweep, requests, ...read });
        },
      },
      lease,
      signal,
    );
  }

  async function once(
    signal: AbortSignal | undefined,
    kinds: readonly SweepKind[],
  ): Promise<PollReport> {
    const startedAt = isoNow();
    const session = await begin(signal);
    if ("heldBy" in session) return { ran: false, ...session };
    meter.countAnew();
    total = NOTHING_READ;
    try {
      await failures.load();
      const failure = await runSweepRound(session, kinds);
      const delivery = await session.watch();
      await failures.store();
      if (failure !== null) throw failure;
      return {
        ran: true,
        ...total,
        startedAt,
        finishedAt: isoNow(),
        requests: meter.requests,
        status: await status(),
        delivery,
      };
    } finally {
      await releaseLease(driver, session.lease);
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const session = await begin(signal);
        if ("heldBy" in session) {
          await failures.standBy();
          await sleep(Math.max(100, Math.min(session.leftMs, renewMs)), signal);
          continue;
        }
        try {
          await failures.load();
          scheduler = new SweepScheduler(session, signal);
          await scheduler.run();
        } finally {
          scheduler = null;
          await releaseLease(driver, session.lease);
        }
      } catch (error) {
        if (signal.aborted) return;
        settings.onError?.(error, null);
        const tries = failures.attempts("poller") + 1;
        const pauseMs = backoffMs(tries, FAILURE_PAUSES);
        await failures.failed("poller", error, now() + pauseMs);
        await sleep(pauseMs, signal).catch(() => {});
      }
    }
  }

  return {
    once: (how) => once(how?.signal, how?.sweeps ?? SWEEP_KINDS),
    run,
    pollNow: () => {
      scheduler?.startNow();
      return scheduler !== null;
    },
    status,
  };
}

/** Sweeps of one round, in their order. */
const ROUND: readonly SweepKind[] = ["new", "confirm", "open", "deep"];

/**
 * Runs sweeps one after another, each to its end. Where the service fails one,
 * the others still run; the first failure is returned.
 */
async function runSweepRound(
  session: PollSession,
  kinds: readonly SweepKind[],
): Promise<ServiceFailure | null> {
  const { signal, settings: { ledger }, failures } = session;
  const project = () => ledger.project(signal === undefined ? {} : { signal });
  await project();
  const stored = await readNewProgress(ledger.driver, "order");
  let failure: ServiceFailure | null = null;
  for (const kind of ROUND) {
    if (!kinds.includes(kind)) continue;
    // The new sweep has just walked through the whole past.
    if (kind === "deep" && stored === null && kinds.includes("new")) continue;
    try {
      await finish(session, kind);
      await failures.worked(kind);
    } catch (error) {
      if (!isServiceFailure(error) || signal?.aborted) throw error;
      failure ??= error;
    }
    await project();
  }
  return failure;
}

/** Runs one sweep to its end, at the rate. */
async function finish(session: PollSession, kind: SweepKind): Promise<void> {
  const { signal, settings, meter, failures } = session;
  const sweep = session.sweep(kind, true);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const turn = meter.turn([kind]);
      if ("waitMs" in turn) {
        await settings.sleep(turn.waitMs, signal);
        continue;
      }
      const { done, value } = await sweep.next();
      if (done === true) return;
      await failures.stepped();
      meter.spend(kind, value);
    }
  } catch (error) {
    if (signal?.aborted !== true) await failures.failed(kind, error, null);
    throw error;
  } finally {
    await sweep.return();
  }
}
