import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { PollError } from "../recording/recorder.ts";
import type { Steps } from "../walk/poll_client.ts";
import { SWEEP_KINDS, type SweepKind } from "./fair_share.ts";
import type { PollSession } from "./poll_session.ts";

/** Pause after a failure, doubled each time up to the second, in ms. */
export const FAILURE_PAUSES = { firstMs: 1000, longestMs: 60_000 };

/**
 * A sweep that failed works again once it has ended well, or has gone on for
 * this long, in ms: a first page that is answered says nothing about the next.
 */
const WORKS_AGAIN_MS = 60_000;

/** Runs all sweeps side by side under one lease, one request at a time. */
export class SweepScheduler {
  readonly #session: PollSession;
  readonly #signal: AbortSignal;
  readonly #active = new Map<SweepKind, Steps>();
  readonly #dueMs = new Map<SweepKind, number>(
    SWEEP_KINDS.map((kind) => [kind, 0]),
  );
  readonly #startedMs = new Map<SweepKind, number>();
  /** Until when a sweep that failed is not tried again. */
  readonly #pausedMs = new Map<SweepKind, number>();
  readonly #begunMs: number;
  #renewedMs: number;
  #watchMs = 0;
  #projectedMs = 0;
  /** Sweeps that are to be started whatever the time. */
  readonly #wanted = new Set<SweepKind>();
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
    this.#begunMs = session.parts.settings.steadyNow();
    this.#renewedMs = this.#begunMs;
  }

  async run(): Promise<void> {
    const signal = this.#signal;
    const { meter, settings } = this.#session.parts;
    using _named = settings.ledger.onRequested?.(() => {
      this.#named = true;
      this.#resting?.abort();
    });
    try {
      while (!signal.aborted) {
        if (this.#foldFailure !== null) throw this.#foldFailure.error;
        const nowMs = settings.steadyNow();
        await this.#keepWatch(nowMs);
        this.#startDue(nowMs);
        const ready = [...this.#active.keys()];
        if (ready.length === 0) {
          if (this.#wanted.size > 0) continue;
          if (this.#isNamed(nowMs)) continue;
          const nextMs = Math.min(this.#watchMs, ...this.#dueMs.values());
          await this.#rest(nextMs - nowMs);
          continue;
        }
        const turn = meter.turn(ready);
        if ("waitMs" in turn) await this.#rest(turn.waitMs);
        else await this.#step(turn.kind);
      }
    } finally {
      for (const sweep of this.#active.values()) await sweep.return();
      await this.#folding;
    }
  }

  /**
   * Starts the sweeps at once that read what is new, what webhooks named, and
   * every open order. One that is under way is started once more after it.
   */
  startNow(): void {
    for (const kind of SWEEP_KINDS) {
      if (kind !== "deep") this.#wanted.add(kind);
    }
    this.#resting?.abort();
  }

  /** Checks delivery when it is due, and keeps the lease meanwhile. */
  async #keepWatch(nowMs: number): Promise<void> {
    const session = this.#session;
    const { settings, failures } = session.parts;
    if (nowMs >= this.#watchMs) {
      // A failing `onAlert` must not stop polling.
      await session.watch((error) => settings.onError?.(error, null));
      await failures.store();
      this.#watchMs = nowMs + settings.watchEveryMs;
    } else if (nowMs - this.#renewedMs >= settings.renewMs) {
      await session.renew();
    } else return;
    this.#renewedMs = nowMs;
  }

  /** Starts the sweeps whose time has come, and folds what they need. */
  #startDue(nowMs: number): void {
    const session = this.#session;
    const { settings } = session.parts;
    const due = SWEEP_KINDS.filter((kind) =>
      !this.#active.has(kind) &&
      (this.#wanted.has(kind) || nowMs >= (this.#dueMs.get(kind) ?? 0) ||
        (kind === "confirm" && this.#isNamed(nowMs)))
    );
    // A sweep that has gone on for long needs fresh read models as well.
    const isFresh = nowMs - this.#projectedMs < settings.confirmEveryMs;
    if (due.length === 0 && isFresh) return;
    // What wakes the confirm sweep has just been folded.
    if (!isFresh || due.some((kind) => kind !== "confirm")) {
      this.#fold();
      this.#projectedMs = nowMs;
    }
    for (const kind of due) {
      const all = kind === "open" && this.#wanted.has(kind);
      this.#wanted.delete(kind);
      if (kind === "confirm") this.#named = false;
      this.#active.set(kind, session.sweep(kind, all));
      this.#startedMs.set(kind, nowMs);
    }
  }

  /** One step of one sweep; a failure costs this sweep a pause, no other. */
  async #step(kind: SweepKind): Promise<void> {
    const { meter, settings, failures } = this.#session.parts;
    const sweep = this.#active.get(kind);
    if (sweep === undefined) return;
    try {
      const { done, value } = await sweep.next();
      await this.#worked(kind, done === true, typeof value === "number");
      if (done !== true) {
        meter.spend(kind, value);
        // What was read is reported at once.
        if (value > 0) this.#fold();
        return;
      }
      this.#active.delete(kind);
      this.#pausedMs.delete(kind);
      const pauseMs = settings[PAUSE_OF[kind]];
      this.#dueMs.set(kind, settings.steadyNow() + pauseMs);
    } catch (error) {
      if (this.#signal.aborted || error instanceof PollError) throw error;
      this.#active.delete(kind);
      meter.spend(kind, 1);
      const pauseMs = backoffMs(
        failures.attempts(kind) + 1,
        FAILURE_PAUSES,
      );
      this.#dueMs.set(kind, settings.steadyNow() + pauseMs);
      this.#pausedMs.set(kind, settings.steadyNow() + pauseMs);
      settings.onError?.(error, kind);
      await failures.failed(kind, error, settings.now() + pauseMs);
    }
  }

  /** Whether a webhook asks for the confirm sweep, and it has not just failed. */
  #isNamed(nowMs: number): boolean {
    return this.#named && nowMs >= (this.#pausedMs.get("confirm") ?? 0);
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
    const { ledger } = this.#session.parts.settings;
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
    const { failures, settings } = this.#session.parts;
    const nowMs = settings.steadyNow();
    const longSince = (beganMs: number | undefined) =>
      nowMs - (beganMs ?? nowMs) >= WORKS_AGAIN_MS;
    if (requested) await failures.stepped();
    if (ended || longSince(this.#startedMs.get(kind))) {
      await failures.worked(kind);
    }
    // A lease that is lost at once each time is taken well each time, too; a
    // database that took what a sweep ended with works.
    if (
      longSince(this.#begunMs) || (ended && failures.isOfDatabase("poller"))
    ) await failures.worked("poller");
  }

  async #rest(ms: number): Promise<void> {
    const signal = this.#signal;
    const { settings } = this.#session.parts;
    const restMs = Math.max(1, Math.min(ms, settings.renewMs));
    if (signal.aborted) return;
    const resting = new AbortController();
    const end = () => resting.abort();
    signal.addEventListener("abort", end, { once: true });
    this.#resting = resting;
    await settings.sleep(restMs, resting.signal).catch((error) => {
      if (!resting.signal.aborted) throw error;
    }).finally(() => signal.removeEventListener("abort", end));
    this.#resting = null;
  }
}

const PAUSE_OF = {
  new: "followEveryMs",
  confirm: "confirmEveryMs",
  open: "openEveryMs",
  deep: "deepCycleAtLeastMs",
} as const;
