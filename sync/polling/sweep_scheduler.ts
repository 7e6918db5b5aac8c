import { ENTITIES, type Lease } from "../../ledger/for_sync.ts";
import { defined, recordBy } from "../../core/guards.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { PollError, Recorder, type SweepRead } from "../recording/recorder.ts";
import { allSteps, type Steps } from "../walk/walk.ts";
import { watchdog } from "../watchdog/watchdog.ts";
import type { DeliveryHealth } from "../watchdog/watchdog_rule.ts";
import {
  type RequestMeter,
  SWEEP_KINDS,
  type SweepKind,
} from "./fair_share.ts";
import type { PollFailures } from "./poll_health.ts";
import type { PollerSettings } from "./poller_options.ts";
import type { SweepContext } from "./sweep_context.ts";
import { sweepDeep, sweepNew } from "./sweep_created.ts";
import { RequestTurns, sweepConfirm, sweepOpen } from "./sweep_queue.ts";

/** What a poller keeps from one lease to the next. */
interface PollParts {
  readonly settings: PollerSettings;
  /** Chooses the sweep that makes the next request. */
  readonly meter: RequestMeter;
  /** The failures that have not ended. */
  readonly failures: PollFailures;
  readonly onRead: (kind: SweepKind, read: SweepRead) => void;
}

/** A lease, and what can be done under it. */
export interface PollSession extends PollParts {
  readonly lease: Lease;
  readonly signal: AbortSignal | undefined;
  sweep(kind: SweepKind, all: boolean): Steps;
  /** Looks at webhook delivery, raises the alarm, and renews the lease. */
  watch(onFailure?: (error: unknown) => void): Promise<DeliveryHealth>;
  renew(): Promise<void>;
}

export function pollSession(
  parts: PollParts,
  lease: Lease,
  signal: AbortSignal | undefined,
): PollSession {
  const { settings, onRead } = parts;
  const { ledger: { driver }, now, randomBytes } = settings;
  const recorder = new Recorder({ driver, lease, now, randomBytes });
  const turns = { confirm: new RequestTurns(), open: new RequestTurns() };

  function sweep(kind: SweepKind, all: boolean): Steps {
    const context: SweepContext = {
      ...{ ...settings, ...defined({ signal }), driver, recorder },
      onRead: (read) => onRead(kind, read),
    };
    if (kind === "open") return sweepOpen(context, { all, turns: turns.open });
    if (kind === "confirm") {
      return sweepConfirm(context, { all, turns: turns.confirm });
    }
    // Half of it: a cycle that is due must not be left out by chance.
    const pauseMs = all ? 0 : settings.deepCycleAtLeastMs / 2;
    return allSteps(
      ENTITIES.map((entity) =>
        kind === "new"
          ? sweepNew(context, entity)
          : sweepDeep(context, entity, pauseMs)
      ),
    );
  }

  const watch: PollSession["watch"] = async (onFailure) => {
    const { health, alert, remember } = await watchdog(driver, {
      ...{ nowMs: now(), everyMs: settings.watchEveryMs },
    });
    // Called before it is stored: an alarm may be sent twice, but is never lost.
    let isTaken = true;
    try {
      settings.onWatch?.(health);
      if (alert !== null) await settings.onAlert?.(alert);
    } catch (error) {
      if (onFailure === undefined) throw error;
      onFailure(error);
      isTaken = false;
    }
    await recorder.write(isTaken ? remember : []);
    return health;
  };

  const renew = () => recorder.write([]);
  return { ...parts, lease, signal, sweep, watch, renew };
}

/** Pause after a failure, doubled each time up to the second, in ms. */
export const FAILURE_PAUSES = { firstMs: 1000, longestMs: 60_000 };

/**
 * A sweep that failed works again once it has ended well, or has gone on for
 * this long, in ms: a first page that is answered says nothing about the next.
 */
const WORKS_AGAIN_MS = 60_000;

const PAUSE_OF = {
  new: "followEveryMs",
  confirm: "confirmEveryMs",
  open: "openEveryMs",
  deep: "deepCycleAtLeastMs",
} as const;

/** Runs all sweeps side by side under one lease, one request at a time. */
export class SweepScheduler {
  readonly #session: PollSession;
  readonly #signal: AbortSignal;
  readonly #sweeps = recordBy(SWEEP_KINDS)(() => ({
    /** Null while it does not run. */
    steps: null as Steps | null,
    startedMs: 0,
    dueMs: 0,
    /** Whether it is to be started whatever the time. */
    isWanted: false,
    /** Whether it ended with a failure, and waits until it is due. */
    hasFailed: false,
  }));
  readonly #begunMs: number;
  #renewedMs: number;
  #watchMs = 0;
  #projectedMs = 0;
  /** Whether webhooks were folded since the confirm sweep was last begun. */
  #named = false;
  /** Ends the pause that is under way. */
  #resting: AbortController | null = null;
  /** The fold that is under way. */
  #folding: Promise<void> | null = null;
  /** Whether more was read while it is under way. */
  #foldAgain = false;
  #foldFailure: { readonly error: unknown } | null = null;

  constructor(session: PollSession, signal: AbortSignal) {
    this.#session = session;
    this.#signal = signal;
    this.#begunMs = session.settings.steadyNow();
    this.#renewedMs = this.#begunMs;
  }

  async run(): Promise<void> {
    const { meter, settings } = this.#session;
    using _named = settings.ledger.onRequested?.(() => {
      this.#named = true;
      this.#resting?.abort();
    });
    const sweeps = this.#sweeps;
    const ready = () => SWEEP_KINDS.filter((kind) => sweeps[kind].steps);
    try {
      while (!this.#signal.aborted) {
        if (this.#foldFailure !== null) throw this.#foldFailure.error;
        const nowMs = settings.steadyNow();
        await this.#keepWatch(nowMs);
        this.#startDue(nowMs);
        const kinds = ready();
        if (kinds.length === 0) {
          const dueMs = SWEEP_KINDS.map((kind) => sweeps[kind].dueMs);
          await this.#rest(Math.min(this.#watchMs, ...dueMs) - nowMs);
          continue;
        }
        const turn = meter.turn(kinds);
        if ("waitMs" in turn) await this.#rest(turn.waitMs);
        else await this.#step(turn.kind);
      }
    } finally {
      for (const kind of ready()) await sweeps[kind].steps?.return();
      await this.#folding;
    }
  }

  /**
   * Starts the sweeps at once that read what is new, what webhooks named, and
   * every open order. One that is under way is started once more after it.
   */
  startNow(): void {
    for (const kind of SWEEP_KINDS) {
      this.#sweeps[kind].isWanted = kind !== "deep";
    }
    this.#resting?.abort();
  }

  /** Checks delivery when it is due, and keeps the lease meanwhile. */
  async #keepWatch(nowMs: number): Promise<void> {
    const { settings, failures, watch, renew } = this.#session;
    if (nowMs >= this.#watchMs) {
      // A failing `onAlert` must not stop polling.
      await watch((error) => settings.onError?.(error, null));
      await failures.store();
      this.#watchMs = nowMs + settings.watchEveryMs;
    } else if (nowMs - this.#renewedMs >= settings.renewMs) await renew();
    else return;
    this.#renewedMs = nowMs;
  }

  /** Starts the sweeps whose time has come, and folds what they need. */
  #startDue(nowMs: number): void {
    const { settings, sweep } = this.#session;
    const due = SWEEP_KINDS.filter((kind) => {
      const { steps, dueMs, isWanted, hasFailed } = this.#sweeps[kind];
      const isNamed = kind === "confirm" && this.#named && !hasFailed;
      return steps === null && (isWanted || nowMs >= dueMs || isNamed);
    });
    // A sweep that has gone on for long needs fresh read models as well.
    const isFresh = nowMs - this.#projectedMs < settings.confirmEveryMs;
    // What wakes the confirm sweep has just been folded.
    if (!isFresh || due.some((kind) => kind !== "confirm")) {
      this.#fold();
      this.#projectedMs = nowMs;
    }
    for (const kind of due) {
      const one = this.#sweeps[kind];
      if (kind === "confirm") this.#named = false;
      one.steps = sweep(kind, kind === "open" && one.isWanted);
      one.startedMs = nowMs;
      one.isWanted = false;
    }
  }

  /** One step of one sweep; a failure costs this sweep a pause, no other. */
  async #step(kind: SweepKind): Promise<void> {
    const { meter, settings, failures } = this.#session;
    const one = this.#sweeps[kind];
    if (one.steps === null) return;
    const end = (hasFailed: boolean, pauseMs: number) => {
      const dueMs = settings.steadyNow() + pauseMs;
      Object.assign(one, { steps: null, hasFailed, dueMs });
    };
    try {
      const { done, value } = await one.steps.next();
      await this.#worked(kind, done === true, typeof value === "number");
      if (done === true) return end(false, settings[PAUSE_OF[kind]]);
      meter.spend(kind, value);
      // What was read is reported at once.
      if (value > 0) this.#fold();
    } catch (error) {
      if (this.#signal.aborted || error instanceof PollError) throw error;
      meter.spend(kind, 1);
      const tries = failures.attempts(kind) + 1;
      const pauseMs = backoffMs(tries, FAILURE_PAUSES);
      end(true, pauseMs);
      settings.onError?.(error, kind);
      await failures.failed(kind, error, settings.now() + pauseMs);
    }
  }

  /**
   * Folds in the background, because under a flood of events folding does not
   * end. Many calls at once lead to at most two folds.
   */
  #fold(): void {
    this.#foldAgain = true;
    this.#folding ??= this.#foldAll().catch((error) => {
      this.#foldFailure = { error };
      this.#resting?.abort();
    }).finally(() => this.#folding = null);
  }

  async #foldAll(): Promise<void> {
    const signal = this.#signal;
    const { ledger } = this.#session.settings;
    while (this.#foldAgain && !signal.aborted) {
      this.#foldAgain = false;
      await ledger.project({ signal });
    }
  }

  /** A step succeeded, so an earlier failure may be over. */
  async #worked(
    kind: SweepKind,
    ended: boolean,
    requested: boolean,
  ): Promise<void> {
    const { failures, settings } = this.#session;
    const nowMs = settings.steadyNow();
    const isLong = (beganMs: number) => nowMs - beganMs >= WORKS_AGAIN_MS;
    if (requested) await failures.stepped();
    if (ended || isLong(this.#sweeps[kind].startedMs)) {
      await failures.worked(kind);
    }
    // A lease that is lost at once each time is taken well each time, too; a
    // database that took what a sweep ended with works.
    if (isLong(this.#begunMs) || (ended && failures.isOfDatabase("poller"))) {
      await failures.worked("poller");
    }
  }

  async #rest(ms: number): Promise<void> {
    const signal = this.#signal;
    const { settings } = this.#session;
    if (signal.aborted) return;
    const resting = new AbortController();
    const end = () => resting.abort();
    signal.addEventListener("abort", end, { once: true });
    this.#resting = resting;
    const restMs = Math.max(1, Math.min(ms, settings.renewMs));
    await settings.sleep(restMs, resting.signal).catch((error) => {
      if (!resting.signal.aborted) throw error;
    }).finally(() => signal.removeEventListener("abort", end));
    this.#resting = null;
  }
}
