import type { SandboxClock } from "./clock.ts";
import {
  loopTurn,
  PendingWork,
  refuseBackwards,
  TimerQueue,
} from "./timer_queue.ts";
import { sleepOn } from "./sleep.ts";

/** How a virtual clock behaves. */
export interface VirtualClockOptions {
  /**
   * Turns of the event loop given to promises after each timer, before time
   * moves on. Work on other threads is not waited for: wrap it in `work()`.
   * @default {4}
   */
  readonly turns?: number;
  /**
   * Awaited after each timer as well, for whatever `work()` cannot see.
   * @default {nothing}
   */
  readonly settle?: () => Promise<void>;
  /**
   * Clock for waiting on a real network; leave it out when every request is
   * answered in this process.
   * @default {undefined}
   */
  readonly wire?: SandboxClock;
}

/**
 * A clock that moves only when told to, running due timers in order (by time,
 * then by when they were set) and letting promises settle in between.
 *
 * @example Fifteen hours in a moment
 * ```ts
 * import { virtualClock } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const clock = virtualClock(Date.UTC(2026, 0, 1));
 * let rang = "";
 * clock.setTimer(15 * 3_600_000, () => {
 *   rang = new Date(clock.now()).toISOString();
 * });
 * await clock.advance(24 * 3_600_000);
 * assert.equal(rang, "2026-01-01T15:00:00.000Z");
 * ```
 */
export class VirtualClock implements SandboxClock {
  /** Clock for waiting on a real network, if one was given. */
  readonly wire?: SandboxClock;
  readonly #turns: number;
  readonly #settleMore: (() => Promise<void>) | undefined;
  readonly #timers = new TimerQueue();
  readonly #work = new PendingWork();
  #now: number;
  #live = 0;
  #moving: Promise<void> = Promise.resolve();

  /**
   * Makes a clock that stands still.
   *
   * @param startMs Time it stands at, in milliseconds since the epoch.
   * @param options How promises settle between timers.
   */
  constructor(startMs: number, options: VirtualClockOptions = {}) {
    this.#now = startMs;
    this.#turns = options.turns ?? 4;
    this.#settleMore = options.settle;
    if (options.wire) this.wire = options.wire;
  }

  /** Time, in milliseconds since the epoch. */
  now(): number {
    return this.#now;
  }

  /** Timers that are set and have not run. */
  get pendingTimers(): number {
    return this.#live;
  }

  /** When the next timer is due, or null. */
  get nextDueMs(): number | null {
    return this.#timers.first()?.dueMs ?? null;
  }

  /** Calls `run` once the clock has moved on by `delayMs` milliseconds. */
  setTimer(delayMs: number, run: () => void): () => void {
    const timer = this.#timers.add(
      this.#now + Math.max(0, Number.isNaN(delayMs) ? 0 : delayMs),
      run,
    );
    this.#live++;
    return () => {
      if (!timer.over) this.#live--;
      timer.over = true;
    };
  }

  /** Waits until the clock has moved on by `ms` milliseconds. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn((delay, run) => this.setTimer(delay, run), ms, signal);
  }

  /** Stops the clock until `promise` settles. */
  work<T>(promise: Promise<T>): Promise<T> {
    return this.#work.add(promise);
  }

  /**
   * Moves on by `ms` milliseconds.
   *
   * @throws {RangeError} If `ms` is negative or no number.
   */
  advance(ms: number): Promise<void> {
    refuseBackwards(ms);
    return this.#queue(() => this.#run(this.#now + ms, () => false));
  }

  /**
   * Moves on to `timeMs`; a time already past changes nothing.
   */
  runUntil(timeMs: number): Promise<void> {
    return this.#queue(() =>
      this.#run(Math.max(timeMs, this.#now), () => false)
    );
  }

  /**
   * Moves on from timer to timer until none is left, `until` says so, or
   * `limitMs` milliseconds have passed.
   */
  runUntilIdle(
    options: { limitMs?: number; until?: () => boolean } = {},
  ): Promise<void> {
    const until = options.until ?? (() => false);
    return this.#queue(() => {
      const limit = this.#now + (options.limitMs ?? 366 * 86_400_000);
      return this.#run(limit, () => until() || this.#timers.first() === null);
    });
  }

  /** Lets promises and marked work settle without moving time. */
  async settle(): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < this.#turns; turn++) await loopTurn();
      if (this.#settleMore) await this.#settleMore();
      if (!this.#work.isRunning) return;
      await this.#work.done();
    }
  }

  /** One move at a time, in the order asked for. */
  #queue(move: () => Promise<void>): Promise<void> {
    const moved = this.#moving.then(move);
    this.#moving = moved.catch(() => {});
    return moved;
  }

  async #run(limitMs: number, stop: () => boolean): Promise<void> {
    await this.settle();
    while (!stop()) {
      const next = this.#timers.first();
      if (next === null || next.dueMs > limitMs) {
        this.#now = Math.max(this.#now, limitMs);
        return;
      }
      this.#live--;
      next.over = true;
      this.#now = Math.max(this.#now, next.dueMs);
      next.run();
      await this.settle();
    }
  }
}

/**
 * Makes a clock that moves only when told to.
 *
 * @param startMs Time it stands at, in milliseconds since the epoch.
 * @param options How promises settle between timers.
 * @returns The clock, standing still.
 *
 * @example Move time by hand
 * ```ts
 * import { virtualClock } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const clock = virtualClock(1_000);
 * await clock.advance(500);
 * assert.equal(clock.now(), 1_500);
 * ```
 */
export function virtualClock(
  startMs: number,
  options: VirtualClockOptions = {},
): VirtualClock {
  return new VirtualClock(startMs, options);
}
