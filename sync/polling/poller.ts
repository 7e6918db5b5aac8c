import {
  goLive,
  POLL_LEASE,
  readSweep,
  releaseLease,
  takeLease,
} from "../../ledger/for_sync.ts";
import type { SweepRead } from "../recording/record_page.ts";
import { isServiceFailure, type ServiceFailure } from "../walk/poll_client.ts";
import type { Steps } from "../walk/steps.ts";
import { RequestMeter, SWEEP_KINDS, type SweepKind } from "./fair_share.ts";
import { PollFailures } from "./poll_failures.ts";
import type { Poller, PollReport } from "./poll_report.ts";
import { PollSession } from "./poll_session.ts";
import { type PollStatus, readPollStatus } from "./poll_status.ts";
import type { PollerOptions } from "./poller_options.ts";
import {
  pauseAfterFailureMs,
  type PollerSettings,
  pollerSettings,
} from "./poller_settings.ts";
import { newSweepName } from "./sweep_new.ts";
import {
  SweepScheduler,
  type SweepSchedulerOptions,
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
  const poller = new LedgerPoller(options);
  return {
    once: (how) => poller.once(how?.signal, how?.sweeps ?? SWEEP_KINDS),
    run: (signal) => poller.run(signal),
    pollNow: () => poller.pollNow(),
    status: () => poller.status(),
  };
}

class LedgerPoller {
  readonly #options: PollerOptions;
  readonly #settings: PollerSettings;
  readonly #meter: RequestMeter;
  readonly #failures: PollFailures;
  #read: SweepRead = nothingRead;
  /** Whether the ledger is known to have gone live. */
  #isLive = false;
  /** What runs the sweeps, while this poller holds the lease. */
  #scheduler: SweepScheduler | null = null;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#settings = pollerSettings(options);
    this.#meter = new RequestMeter(
      this.#settings.rules,
      this.#settings.steadyNow,
    );
    this.#failures = new PollFailures({
      driver: options.ledger.driver,
      now: this.#settings.now,
      onAlert: options.onPollAlert,
      onHealth: options.onPollHealth,
    });
  }

  pollNow(): boolean {
    this.#scheduler?.startNow();
    return this.#scheduler !== null;
  }

  status(): Promise<PollStatus> {
    const { driver } = this.#options.ledger;
    const { rules, periods } = this.#settings;
    return readPollStatus(driver, rules, periods);
  }

  async once(
    signal: AbortSignal | undefined,
    kinds: readonly SweepKind[],
  ): Promise<PollReport> {
    const { ledger } = this.#options;
    const startedAt = this.#isoNow();
    const session = await this.#begin(signal);
    if (!(session instanceof PollSession)) return { ran: false, ...session };
    this.#meter.countAnew();
    this.#read = nothingRead;
    try {
      await this.#failures.load();
      const failure = await runSweepRound({
        session,
        options: this.#options,
        settings: this.#settings,
        meter: this.#meter,
        failures: this.#failures,
        kinds,
        signal,
      });
      const delivery = await session.watch();
      await this.#failures.store();
      if (failure !== null) throw failure;
      return {
        ran: true,
        ...this.#read,
        startedAt,
        finishedAt: this.#isoNow(),
        requests: this.#meter.requests,
        status: await this.status(),
        delivery,
      };
    } finally {
      await releaseLease(ledger.driver, session.lease);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { renewMs, sleep } = this.#settings;
    const [options, settings, meter] = [
      this.#options,
      this.#settings,
      this.#meter,
    ];
    const failures = this.#failures;
    while (!signal.aborted) {
      try {
        const session = await this.#begin(signal);
        if (!(session instanceof PollSession)) {
          await failures.standBy();
          const waitMs = Math.max(100, Math.min(session.leftMs, renewMs));
          await sleep(waitMs, signal);
          continue;
        }
        try {
          await failures.load();
          const parts = { session, options, settings, meter, failures, signal };
          this.#scheduler = new SweepScheduler(parts);
          await this.#scheduler.run();
        } finally {
          this.#scheduler = null;
          await releaseLease(options.ledger.driver, session.lease);
        }
      } catch (error) {
        if (signal.aborted) return;
        options.onError?.(error, null);
        const pauseMs = pauseAfterFailureMs(failures.attempts("poller") + 1);
        await failures.failed("poller", error, settings.now() + pauseMs);
        await sleep(pauseMs, signal).catch(() => {});
      }
    }
  }

  /** Takes the lease, or says who has it. */
  async #begin(
    signal: AbortSignal | undefined,
  ): Promise<PollSession | { heldBy: string; leftMs: number }> {
    const [options, settings] = [this.#options, this.#settings];
    await this.#goLive();
    const lease = await takeLease(options.ledger.driver, {
      name: POLL_LEASE,
      holder: settings.holder,
      leaseMs: settings.leaseMs,
    });
    if (!("fence" in lease)) return lease;
    return new PollSession({
      lease,
      options,
      settings,
      signal,
      onRead: (kind, read) => this.#onRead(kind, read),
    });
  }

  /** What had happened before somebody first asked is historic. */
  async #goLive(): Promise<void> {
    if (this.#isLive) return;
    await goLive(this.#options.ledger.driver, undefined, this.#settings.now());
    this.#isLive = true;
  }

  #onRead(kind: SweepKind, read: SweepRead): void {
    this.#read = {
      orders: this.#read.orders + read.orders,
      users: this.#read.users + read.users,
      appended: this.#read.appended + read.appended,
    };
    const made = this.#meter.requests;
    const requests = SWEEP_KINDS.reduce((sum, one) => sum + made[one], 0);
    this.#options.onProgress?.({ sweep: kind, requests, ...read });
  }

  #isoNow(): string {
    return new Date(this.#settings.now()).toISOString();
  }
}

const nothingRead: SweepRead = { orders: 0, users: 0, appended: 0 };

/** Sweeps of one round, in their order. */
const round: readonly SweepKind[] = ["new", "confirm", "open", "deep"];

/** What a round of sweeps works with. */
export interface SweepRoundOptions
  extends Omit<SweepSchedulerOptions, "signal"> {
  /** Which sweeps to run. */
  readonly kinds: readonly SweepKind[];
  /** Ends the work between two requests. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs each sweep to its end once, the later ones even where the service failed
 * an earlier one.
 *
 * @param parts What to work with.
 * @returns The first failure of the service; null when there was none.
 * @throws {PollError} `lease_lost` when another poller took over.
 * @throws {LedgerError} When the database fails.
 */
async function runSweepRound(
  parts: SweepRoundOptions,
): Promise<ServiceFailure | null> {
  const { session, options: { ledger }, failures, kinds, signal } = parts;
  const project = () => ledger.project(signal === undefined ? {} : { signal });
  await project();
  const stored = await readSweep(ledger.driver, newSweepName("order"));
  let failure: ServiceFailure | null = null;
  for (const kind of round) {
    if (!kinds.includes(kind)) continue;
    // The new sweep has just walked through the whole past.
    if (kind === "deep" && stored === null && kinds.includes("new")) continue;
    try {
      await finish(parts, kind, session.sweep(kind, true));
      await failures.worked(kind);
    } catch (error) {
      if (!isServiceFailure(error) || signal?.aborted) throw error;
      failure ??= error;
    }
    await project();
  }
  return failure;
}

/** Runs one sweep to its end under the rate. */
async function finish(
  { meter, settings, failures, signal }: SweepRoundOptions,
  kind: SweepKind,
  sweep: Steps,
): Promise<void> {
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
