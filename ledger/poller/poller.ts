import { type Lease, LEASE_MS, releaseLease, takeLease } from "./lease.ts";
import {
  cryptoBytes,
  DEFAULT_PERIODS,
  DEFAULT_RULES,
  OVERLAP_MS,
  SETTLE_MS,
  timerSleep,
} from "./_settings.ts";
import { PollError } from "./poll_error.ts";
import type { PollerOptions } from "./poller_options.ts";
import type { Poller, PollReport } from "./poll_report.ts";
import { type PollStatus, readPollStatus } from "./poll_status.ts";
import {
  type BudgetRules,
  fullBudget,
  type Lane,
  LANES,
  spend,
  takeTurn,
} from "./rate_budget.ts";
import type { RateBudget } from "./rate_budget.ts";
import { Recorder } from "./recorder.ts";
import type { SweepPeriods } from "./staleness.ts";
import type { Sweep, SweepContext, SweepRead } from "./sweep.ts";
import { sweepConfirm } from "./sweep_confirm.ts";
import { sweepDeep } from "./sweep_deep.ts";
import { newSweepName, sweepNew } from "./sweep_new.ts";
import { sweepOpen } from "./sweep_open.ts";
import { readSweep } from "./sweep_store.ts";
import { watchdog } from "./watchdog.ts";
import type { DeliveryHealth } from "./watchdog_rule.ts";

/** Name of the lease of all pollers of a ledger. */
const leaseName = "poll";

/** Pause after a failure, doubled each time up to the second, in ms. */
const [firstPauseMs, longestPauseMs] = [1000, 60_000];

/** How often the watchdog looks unless the options say otherwise, in ms. */
const usualWatchMs = 30_000;

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

/** A lease, and what is done under it. */
interface Session {
  readonly lease: Lease;
  readonly recorder: Recorder;
  readonly context: (lane: Lane) => SweepContext;
}

class LedgerPoller {
  readonly #options: PollerOptions;
  readonly #rules: BudgetRules;
  readonly #periods: SweepPeriods;
  readonly #now: () => number;
  readonly #sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly #randomBytes: (length: number) => Uint8Array;
  readonly #holder: string;
  readonly #leaseMs: number;
  /** A third of the lease: two renewals may fail before it is lost. */
  readonly #renewMs: number;
  #budget: RateBudget;
  #requests: Record<Lane, number> = noRequests();
  #read: SweepRead = { orders: 0, users: 0, appended: 0 };

  constructor(options: PollerOptions) {
    const rate = options.requestsPerSecond ?? DEFAULT_RULES.requestsPerSecond;
    this.#options = options;
    this.#rules = {
      requestsPerSecond: rate,
      burst: Math.max(1, rate),
      shares: options.shares ?? DEFAULT_RULES.shares,
    };
    this.#periods = {
      followEveryMs: options.followEveryMs ?? DEFAULT_PERIODS.followEveryMs,
      confirmEveryMs: options.confirmEveryMs ?? DEFAULT_PERIODS.confirmEveryMs,
      openEveryMs: options.openEveryMs ?? DEFAULT_PERIODS.openEveryMs,
      openAtLeastMs: DEFAULT_PERIODS.openAtLeastMs,
      deepCycleAtLeastMs: options.deepCycleAtLeastMs ??
        DEFAULT_PERIODS.deepCycleAtLeastMs,
      itemsPerWindow: options.itemsPerWindow ?? DEFAULT_PERIODS.itemsPerWindow,
    };
    this.#now = options.now ?? Date.now;
    this.#sleep = options.sleep ?? timerSleep;
    this.#randomBytes = options.randomBytes ?? cryptoBytes;
    this.#holder = options.holder ?? `poller-${crypto.randomUUID()}`;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#renewMs = this.#leaseMs / 3;
    this.#budget = fullBudget(this.#rules, this.#now());
  }

  status(): Promise<PollStatus> {
    const { driver } = this.#options.ledger;
    return readPollStatus(driver, this.#rules, this.#periods);
  }

  async once(
    signal: AbortSignal | undefined,
    lanes: readonly Lane[],
  ): Promise<PollReport> {
    const { ledger } = this.#options;
    const startedAt = this.#isoNow();
    const lease = await this.#takeLease();
    if (!("fence" in lease)) return { ran: false, ...lease };
    this.#requests = noRequests();
    this.#read = { orders: 0, users: 0, appended: 0 };
    const session = this.#session(lease, signal);
    const project = () =>
      ledger.project(signal === undefined ? {} : { signal });
    try {
      await project();
      const fresh = await readSweep(ledger.driver, newSweepName("order")) ===
        null;
      for (const lane of ["new", "confirm", "open", "deep"] as const) {
        if (!lanes.includes(lane)) continue;
        // Where the past has just been walked, once more would say no more.
        if (lane === "deep" && fresh && lanes.includes("new")) continue;
        await this.#finish(lane, this.#sweep(lane, session, true), signal);
        await project();
      }
      await ledger.chain(signal === undefined ? {} : { signal });
      const delivery = await this.#watch(session);
      return {
        ran: true,
        ...this.#read,
        startedAt,
        finishedAt: this.#isoNow(),
        requests: this.#requests,
        status: await this.status(),
        delivery,
      };
    } finally {
      await releaseLease(ledger.driver, lease);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const lease = await this.#takeLease();
        if (!("fence" in lease)) {
          const waitMs = Math.max(100, Math.min(lease.leftMs, this.#renewMs));
          await this.#sleep(waitMs, signal);
          continue;
        }
        failures = 0;
        try {
          await this.#runLeased(this.#session(lease, signal), signal);
        } finally {
          await releaseLease(this.#options.ledger.driver, lease);
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onError?.(error, null);
        failures += 1;
        await this.#sleep(pauseMs(failures), signal).catch(() => {});
      }
    }
  }

  /** Runs the sweeps until aborted, or until the lease is lost. */
  async #runLeased(session: Session, signal: AbortSignal): Promise<void> {
    const active = new Map<Lane, Sweep>();
    const dueMs = new Map<Lane, number>(LANES.map((lane) => [lane, 0]));
    const failures = new Map<Lane, number>();
    let renewedMs = this.#now();
    let watchMs = 0;
    try {
      while (!signal.aborted) {
        const nowMs = this.#now();
        if (nowMs >= watchMs) {
          await this.#watch(session);
          watchMs = nowMs + (this.#options.watchEveryMs ?? usualWatchMs);
          renewedMs = nowMs;
        } else if (nowMs - renewedMs >= this.#renewMs) {
          await session.recorder.write([]);
          renewedMs = nowMs;
        }
        await this.#start(session, active, dueMs, nowMs, signal);
        const ready = [...active.keys()];
        if (ready.length === 0) {
          const nextMs = Math.min(watchMs, ...dueMs.values());
          await this.#rest(nextMs - nowMs, signal);
          continue;
        }
        const turn = takeTurn(this.#budget, this.#rules, ready, nowMs);
        this.#budget = turn.budget;
        if ("waitMs" in turn) {
          await this.#rest(turn.waitMs, signal);
          continue;
        }
        await this.#step(turn.lane, active, dueMs, failures, signal);
      }
    } finally {
      for (const sweep of active.values()) await sweep.return();
    }
  }

  /** Starts the sweeps whose time has come, on read models that are fresh. */
  async #start(
    session: Session,
    active: Map<Lane, Sweep>,
    dueMs: ReadonlyMap<Lane, number>,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const due = LANES.filter((lane) =>
      !active.has(lane) && nowMs >= (dueMs.get(lane) ?? 0)
    );
    if (due.length === 0) return;
    await this.#options.ledger.project({ signal });
    for (const lane of due) active.set(lane, this.#sweep(lane, session, false));
  }

  /** One step of one sweep; a failure costs this sweep a pause, no other. */
  async #step(
    lane: Lane,
    active: Map<Lane, Sweep>,
    dueMs: Map<Lane, number>,
    failures: Map<Lane, number>,
    signal: AbortSignal,
  ): Promise<void> {
    const sweep = active.get(lane);
    if (sweep === undefined) return;
    try {
      const { done, value } = await sweep.next();
      if (done !== true) {
        this.#spend(lane, value);
        return;
      }
      failures.delete(lane);
      active.delete(lane);
      dueMs.set(lane, this.#now() + this.#pauseOf(lane));
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof PollError) throw error;
      active.delete(lane);
      const failed = (failures.get(lane) ?? 0) + 1;
      failures.set(lane, failed);
      this.#spend(lane, 1);
      dueMs.set(lane, this.#now() + pauseMs(failed));
      this.#options.onError?.(error, lane);
    }
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
        const turn = takeTurn(this.#budget, this.#rules, [lane], this.#now());
        this.#budget = turn.budget;
        if ("waitMs" in turn) {
          await this.#sleep(turn.waitMs, signal);
          continue;
        }
        const { done, value } = await sweep.next();
        if (done === true) return;
        this.#spend(lane, value);
      }
    } finally {
      await sweep.return();
    }
  }

  #sweep(lane: Lane, session: Session, all: boolean): Sweep {
    const context = session.context(lane);
    const randomBytes = this.#randomBytes;
    switch (lane) {
      case "new":
        return both(sweepNew(context, "order"), sweepNew(context, "user"));
      case "open":
        return sweepOpen(context, { all, randomBytes });
      case "confirm":
        return sweepConfirm(context);
      case "deep":
        return sweepDeep(context);
    }
  }

  #pauseOf(lane: Lane): number {
    switch (lane) {
      case "new":
        return this.#periods.followEveryMs;
      case "confirm":
        return this.#periods.confirmEveryMs;
      case "open":
        return this.#periods.openEveryMs;
      case "deep":
        return this.#periods.deepCycleAtLeastMs;
    }
  }

  #session(lease: Lease, signal: AbortSignal | undefined): Session {
    const { ledger, client, overlapMs, settleMs } = this.#options;
    const now = this.#now;
    const { driver } = ledger;
    const randomBytes = this.#randomBytes;
    const recorder = new Recorder({ driver, lease, now, randomBytes });
    const context = (lane: Lane): SweepContext => ({
      client,
      driver,
      recorder,
      now,
      itemsPerWindow: this.#periods.itemsPerWindow,
      overlapMs: overlapMs ?? OVERLAP_MS,
      settleMs: settleMs ?? SETTLE_MS,
      ...(signal === undefined ? {} : { signal }),
      onRead: (read) => this.#onRead(lane, read),
    });
    return { lease, recorder, context };
  }

  #onRead(lane: Lane, read: SweepRead): void {
    this.#read = {
      orders: this.#read.orders + read.orders,
      users: this.#read.users + read.users,
      appended: this.#read.appended + read.appended,
    };
    const requests = LANES.reduce((sum, one) => sum + this.#requests[one], 0);
    this.#options.onProgress?.({ lane, requests, ...read });
  }

  async #watch(session: Session): Promise<DeliveryHealth> {
    const { ledger, onAlert, webhookGraceMs } = this.#options;
    const look = await watchdog(ledger.driver, {
      nowMs: this.#now(),
      ...(webhookGraceMs === undefined ? {} : { graceMs: webhookGraceMs }),
    });
    // Told before it is remembered: an alarm may come twice, never not at all.
    if (look.raised || look.cleared) await onAlert?.(look.health);
    await session.recorder.write(look.remember);
    return look.health;
  }

  #takeLease(): ReturnType<typeof takeLease> {
    return takeLease(this.#options.ledger.driver, {
      name: leaseName,
      holder: this.#holder,
      leaseMs: this.#leaseMs,
    });
  }

  #spend(lane: Lane, requests: number): void {
    this.#requests[lane] += requests;
    this.#budget = spend(this.#budget, this.#rules, lane, requests);
  }

  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const restMs = Math.max(1, Math.min(ms, this.#renewMs));
    await this.#sleep(restMs, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }

  #isoNow(): string {
    return new Date(this.#now()).toISOString();
  }
}

async function* both(first: Sweep, second: Sweep): Sweep {
  yield* first;
  yield* second;
}

function pauseMs(failures: number): number {
  return Math.min(
    longestPauseMs,
    firstPauseMs * 2 ** Math.min(failures - 1, 9),
  );
}

function noRequests(): Record<Lane, number> {
  return { new: 0, open: 0, confirm: 0, deep: 0 };
}
