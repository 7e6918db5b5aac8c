import { pauseAfterFailureMs } from "./_settings.ts";
import { PollError } from "./poll_error.ts";
import type { PollerOptions } from "./poller_options.ts";
import type { PollerSettings } from "./poller_settings.ts";
import type { PollSession } from "./poll_session.ts";
import { type Lane, LANES } from "./rate_budget.ts";
import type { RequestMeter } from "./request_meter.ts";
import type { SweepPeriods } from "./staleness.ts";
import type { Sweep } from "./sweep.ts";

/** What a rota works with. */
export interface SweepRotaOptions {
  /** The lease, and what can be done under it. */
  readonly session: PollSession;
  /** The poller's options. */
  readonly options: PollerOptions;
  /** The same with nothing left out. */
  readonly settings: PollerSettings;
  /** What may be asked, and by whom. */
  readonly meter: RequestMeter;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

/** Runs all sweeps side by side under one lease, one request at a time. */
export class SweepRota {
  readonly #parts: SweepRotaOptions;
  readonly #active = new Map<Lane, Sweep>();
  readonly #dueMs = new Map<Lane, number>(LANES.map((lane) => [lane, 0]));
  readonly #failures = new Map<Lane, number>();
  #renewedMs: number;
  #watchMs = 0;

  /** @param parts What it works with. */
  constructor(parts: SweepRotaOptions) {
    this.#parts = parts;
    this.#renewedMs = parts.settings.now();
  }

  /**
   * Goes on until aborted.
   *
   * @throws {PollError} `lease_lost` when another poller took over.
   * @throws {LedgerError} When the database fails.
   */
  async run(): Promise<void> {
    const { meter, settings, signal } = this.#parts;
    try {
      while (!signal.aborted) {
        const nowMs = settings.now();
        await this.#keepWatch(nowMs);
        await this.#startDue(nowMs);
        const ready = [...this.#active.keys()];
        if (ready.length === 0) {
          const nextMs = Math.min(this.#watchMs, ...this.#dueMs.values());
          await this.#rest(nextMs - nowMs);
          continue;
        }
        const turn = meter.turn(ready);
        if ("waitMs" in turn) await this.#rest(turn.waitMs);
        else await this.#step(turn.lane);
      }
    } finally {
      for (const sweep of this.#active.values()) await sweep.return();
    }
  }

  /** Looks at delivery when it is time, and keeps the lease meanwhile. */
  async #keepWatch(nowMs: number): Promise<void> {
    const { session, options, settings } = this.#parts;
    if (nowMs >= this.#watchMs) {
      // Whoever cannot be told of it is no reason to stop reading the service.
      await session.watch((error) => options.onError?.(error, null));
      this.#watchMs = nowMs + settings.watchEveryMs;
    } else if (nowMs - this.#renewedMs >= settings.renewMs) {
      await session.renew();
    } else return;
    this.#renewedMs = nowMs;
  }

  /** Starts the sweeps whose time has come, on read models that are fresh. */
  async #startDue(nowMs: number): Promise<void> {
    const { session, options, signal } = this.#parts;
    const due = LANES.filter((lane) =>
      !this.#active.has(lane) && nowMs >= (this.#dueMs.get(lane) ?? 0)
    );
    if (due.length === 0) return;
    await options.ledger.project({ signal });
    for (const lane of due) this.#active.set(lane, session.sweep(lane, false));
  }

  /** One step of one sweep; a failure costs this sweep a pause, no other. */
  async #step(lane: Lane): Promise<void> {
    const { meter, options, settings, signal } = this.#parts;
    const sweep = this.#active.get(lane);
    if (sweep === undefined) return;
    try {
      const { done, value } = await sweep.next();
      if (done !== true) {
        meter.spend(lane, value);
        return;
      }
      this.#failures.delete(lane);
      this.#active.delete(lane);
      const pauseMs = pauseOfLaneMs(lane, settings.periods);
      this.#dueMs.set(lane, settings.now() + pauseMs);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof PollError) throw error;
      this.#active.delete(lane);
      const failed = (this.#failures.get(lane) ?? 0) + 1;
      this.#failures.set(lane, failed);
      meter.spend(lane, 1);
      this.#dueMs.set(lane, settings.now() + pauseAfterFailureMs(failed));
      options.onError?.(error, lane);
    }
  }

  async #rest(ms: number): Promise<void> {
    const { settings, signal } = this.#parts;
    const restMs = Math.max(1, Math.min(ms, settings.renewMs));
    await settings.sleep(restMs, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }
}

function pauseOfLaneMs(lane: Lane, periods: SweepPeriods): number {
  switch (lane) {
    case "new":
      return periods.followEveryMs;
    case "confirm":
      return periods.confirmEveryMs;
    case "open":
      return periods.openEveryMs;
    case "deep":
      return periods.deepCycleAtLeastMs;
  }
}
