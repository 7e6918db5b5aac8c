import { pauseAfterFailureMs } from "./_settings.ts";
import { releaseLease, takeLease } from "./lease.ts";
import type { PollerOptions } from "./poller_options.ts";
import { type PollerSettings, pollerSettings } from "./poller_settings.ts";
import type { Poller, PollReport } from "./poll_report.ts";
import { PollSession } from "./poll_session.ts";
import { type PollStatus, readPollStatus } from "./poll_status.ts";
import { type Lane, LANES } from "./rate_budget.ts";
import { RequestMeter } from "./request_meter.ts";
import type { Sweep, SweepRead } from "./sweep.ts";
import { newSweepName } from "./sweep_new.ts";
import { SweepRota } from "./sweep_rota.ts";
import { readSweep } from "./sweep_store.ts";

/** Name of the lease of all pollers of a ledger. */
const leaseName = "poll";

/** Sweeps of one round, in their order. */
const round: readonly Lane[] = ["new", "confirm", "open", "deep"];

/**
 * Makes a poller.
 *
 * @param options What it works with.
 * @throws {RangeError} When the rate or a share is not a positive number.
 *
 * @example Poll once
 * ```ts
 * import { createPoller, openLedger } from "@rampkit/onramp/ledger";
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
    once: (how) => poller.once(how?.signal, how?.sweeps ?? LANES),
    run: (signal) => poller.run(signal),
    status: () => poller.status(),
  };
}

class LedgerPoller {
  readonly #options: PollerOptions;
  readonly #settings: PollerSettings;
  readonly #meter: RequestMeter;
  #read: SweepRead = nothingRead;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#settings = pollerSettings(options);
    this.#meter = new RequestMeter(this.#settings.rules, this.#settings.now);
  }

  status(): Promise<PollStatus> {
    const { driver } = this.#options.ledger;
    const { rules, periods } = this.#settings;
    return readPollStatus(driver, rules, periods);
  }

  async once(
    signal: AbortSignal | undefined,
    lanes: readonly Lane[],
  ): Promise<PollReport> {
    const { ledger } = this.#options;
    const startedAt = this.#isoNow();
    const session = await this.#begin(signal);
    if (!(session instanceof PollSession)) return { ran: false, ...session };
    this.#meter.countAnew();
    this.#read = nothingRead;
    const how = signal === undefined ? {} : { signal };
    try {
      await ledger.project(how);
      const fresh = await readSweep(ledger.driver, newSweepName("order")) ===
        null;
      for (const lane of round) {
        if (!lanes.includes(lane)) continue;
        // Where the past has just been walked, once more would say no more.
        if (lane === "deep" && fresh && lanes.includes("new")) continue;
        await this.#finish(lane, session.sweep(lane, true), signal);
        await ledger.project(how);
      }
      await ledger.chain(how);
      const delivery = await session.watch();
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
    let failures = 0;
    while (!signal.aborted) {
      try {
        const session = await this.#begin(signal);
        if (!(session instanceof PollSession)) {
          const waitMs = Math.max(100, Math.min(session.leftMs, renewMs));
          await sleep(waitMs, signal);
          continue;
        }
        failures = 0;
        try {
          const parts = { session, options, settings, meter, signal };
          await new SweepRota(parts).run();
        } finally {
          await releaseLease(options.ledger.driver, session.lease);
        }
      } catch (error) {
        if (signal.aborted) return;
        options.onError?.(error, null);
        failures += 1;
        await sleep(pauseAfterFailureMs(failures), signal).catch(() => {});
      }
    }
  }

  /** Takes the lease, or says who has it. */
  async #begin(
    signal: AbortSignal | undefined,
  ): Promise<PollSession | { heldBy: string; leftMs: number }> {
    const [options, settings] = [this.#options, this.#settings];
    const lease = await takeLease(options.ledger.driver, {
      name: leaseName,
      holder: settings.holder,
      leaseMs: settings.leaseMs,
    });
    if (!("fence" in lease)) return lease;
    return new PollSession({
      lease,
      options,
      settings,
      signal,
      onRead: (lane, read) => this.#onRead(lane, read),
    });
  }

  /** Runs one sweep to its end under the rate. */
  async #finish(
    lane: Lane,
    sweep: Sweep,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      for (;;) {
        signal?.throwIfAborted();
        const turn = this.#meter.turn([lane]);
        if ("waitMs" in turn) {
          await this.#settings.sleep(turn.waitMs, signal);
          continue;
        }
        const { done, value } = await sweep.next();
        if (done === true) return;
        this.#meter.spend(lane, value);
      }
    } finally {
      await sweep.return();
    }
  }

  #onRead(lane: Lane, read: SweepRead): void {
    this.#read = {
      orders: this.#read.orders + read.orders,
      users: this.#read.users + read.users,
      appended: this.#read.appended + read.appended,
    };
    const made = this.#meter.requests;
    const requests = LANES.reduce((sum, one) => sum + made[one], 0);
    this.#options.onProgress?.({ lane, requests, ...read });
  }

  #isoNow(): string {
    return new Date(this.#settings.now()).toISOString();
  }
}

const nothingRead: SweepRead = { orders: 0, users: 0, appended: 0 };
