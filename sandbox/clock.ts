import { setImmediate } from "node:timers";
import { Sorted } from "./store.ts";

/** What a clock is at the least. */
export interface PlainClock {
  /** Time, in milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `run` once, `delayMs` milliseconds from now.
   *
   * @returns A function that cancels the call.
   */
  setTimer(delayMs: number, run: () => void): () => void;
}

/**
 * The clock that the whole sandbox uses.
 *
 * Hand the same clock to whatever runs beside the sandbox, and hours of
 * retries pass in milliseconds.
 */
export interface SandboxClock extends PlainClock {
  /** Waits `ms` milliseconds; rejects with the signal's reason on abort. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Marks work that takes real time and none of this clock's time, for
   * example a database call: a clock that is moved stands still until it is
   * done. Such work must not wait for this clock itself.
   */
  work<T>(promise: Promise<T>): Promise<T>;
  /**
   * The clock for waiting on a real network, where that differs: an answer
   * over a socket takes real milliseconds however fast this clock runs.
   */
  readonly wire?: PlainClock;
  /**
   * Moves ahead by `ms` milliseconds, one move after the other, and runs the
   * timers that are due on the way.
   *
   * @throws {RangeError} If `ms` is negative or no number.
   */
  advance(ms: number): Promise<void>;
}

/** How a virtual clock behaves. */
export interface VirtualClockOptions {
  /**
   * Turns of the event loop given to promises after each timer, before time
   * moves on. Work on other threads is not waited for: wrap it in `work()`.
   * @default {4}
   */
  readonly turns?: number;
  /**
   * Clock for waiting on a real network; leave it out when every request is
   * answered in this process.
   * @default {undefined}
   */
  readonly wire?: PlainClock;
}

/**
 * A clock that moves only when told to, running due timers in order (by time,
 * then by when they were set) and letting promises settle in between.
 */
export interface VirtualClock extends SandboxClock {
  /** Timers that are set and have not run. */
  readonly pendingTimers: number;
  /** When the next timer is due, in milliseconds since the epoch, or null. */
  readonly nextDueMs: number | null;
  /** Moves on to `timeMs`; a time already past changes nothing. */
  runUntil(timeMs: number): Promise<void>;
  /** Lets promises and marked work settle without moving time. */
  settle(): Promise<void>;
}

/**
 * Makes a clock that moves only when told to.
 *
 * @param startMs Time it stands at, in milliseconds since the epoch.
 * @param options How promises settle between timers.
 * @returns The clock, standing still.
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
export function virtualClock(
  startMs: number,
  options: VirtualClockOptions = {},
): VirtualClock {
  const clock = new Clock(STANDING, { ...options, startMs });
  return Object.assign(clock, options.wire && { wire: options.wire });
}

/** How a real clock runs. */
export interface RealClockOptions {
  /**
   * Milliseconds of its time per real millisecond.
   * @default {1}
   */
  readonly factor?: number;
  /**
   * Time it starts at, in milliseconds since the epoch.
   * @default {the time of `wire`}
   */
  readonly startMs?: number;
  /**
   * The clock that it follows.
   * @default {the machine's}
   */
  readonly wire?: PlainClock;
}

/** A clock that passes by itself and can be moved ahead. */
export interface RealClock extends SandboxClock {
  /** Milliseconds of its time per real millisecond. */
  readonly factor: number;
  /** How far it was moved ahead, in milliseconds. */
  readonly movedMs: number;
  /**
   * Changes the pace from now on; timers already set follow.
   *
   * @throws {RangeError} If it is not a positive number.
   */
  setFactor(factor: number): void;
  /** The clock that it follows, for waiting on a network. */
  readonly wire: PlainClock;
}

/**
 * The clock of this machine, or a faster one: a day of orders in ten seconds,
 * over a real network. While it is moved ahead it stops at every timer on the
 * way until the webhooks that are under way then are answered.
 *
 * @param options Pace and start.
 * @returns The clock, running.
 * @throws {RangeError} If the factor is not a positive number.
 *
 * @example An hour a second
 * ```ts
 * import { realClock } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * assert.ok(Math.abs(realClock().now() - Date.now()) < 1000);
 * const fast = realClock({ factor: 3600, startMs: 0 });
 * await fast.sleep(36_000);
 * assert.ok(fast.now() >= 36_000);
 * ```
 */
export function realClock(options: RealClockOptions = {}): RealClock {
  const { wire = MACHINE } = options;
  return Object.assign(new Clock(wire, options), { wire });
}

interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly run: () => void;
}

/**
 * A clock that passes as the one that it follows, and can be moved ahead of
 * it. A virtual clock follows one that stands still.
 */
class Clock {
  factor: number;
  movedMs = 0;
  /** The next is the last, so that it is taken off without moving others. */
  readonly #timers = new Sorted<Timer>((a, b) =>
    a.dueMs > b.dueMs || (a.dueMs === b.dueMs && a.sequence > b.sequence)
  );
  readonly #working = new Set<Promise<unknown>>();
  readonly #followed: PlainClock;
  readonly #turns: number;
  #sequence = 0;
  #moving: Promise<void> = Promise.resolve();
  #baseMs: number;
  #baseFollowedMs: number;
  #disarm: () => void = () => {};

  constructor(
    followed: PlainClock,
    { factor = 1, startMs, turns = 4 }: RealClockOptions & VirtualClockOptions,
  ) {
    this.#followed = followed;
    this.#turns = turns;
    this.factor = positive(factor);
    this.#baseFollowedMs = followed.now();
    this.#baseMs = startMs ?? this.#baseFollowedMs;
  }

  now(): number {
    const followedMs = this.#followed.now() - this.#baseFollowedMs;
    return Math.floor(this.#baseMs + followedMs * this.factor) + this.movedMs;
  }

  setFactor(factor: number): void {
    positive(factor);
    this.#baseMs = this.now() - this.movedMs;
    this.#baseFollowedMs = this.#followed.now();
    this.factor = factor;
    this.#arm();
  }

  get pendingTimers(): number {
    return this.#timers.rows.length;
  }

  get nextDueMs(): number | null {
    return this.#timers.rows.at(-1)?.dueMs ?? null;
  }

  setTimer(delayMs: number, run: () => void): () => void {
    const dueMs = this.now() + Math.max(0, delayMs || 0);
    const timer = { dueMs, sequence: this.#sequence++, run };
    this.#timers.add(timer);
    this.#arm();
    return () => {
      this.#timers.remove(timer);
      this.#arm();
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const forget = signal && onAbort(signal, () => {
        cancel();
        reject(signal.reason);
      });
      const cancel = this.setTimer(ms, () => {
        forget?.();
        resolve();
      });
    });
  }

  work<T>(promise: Promise<T>): Promise<T> {
    const done: Promise<unknown> = promise.then(() => {}, () => {}).finally(
      () => this.#working.delete(done),
    );
    this.#working.add(done);
    return promise;
  }

  advance(ms: number): Promise<void> {
    if (ms >= 0) return this.#move(() => this.now() + ms);
    throw new RangeError(
      `Cannot advance the clock: ms must be zero or more, got ${ms}`,
    );
  }

  runUntil(timeMs: number): Promise<void> {
    return this.#move(() => timeMs);
  }

  async settle(): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < this.#turns; turn++) {
        await new Promise<void>((resolve) => setImmediate(() => resolve()));
      }
      if (this.#working.size === 0) return;
      await Promise.all(this.#working);
    }
  }

  /** Jumps from timer to timer up to a limit, one move after the other. */
  #move(limit: () => number): Promise<void> {
    const moved = this.#moving.then(async () => {
      const limitMs = limit();
      do await this.settle(); while (this.#ring(limitMs));
      this.#jump(limitMs);
    });
    this.#moving = moved.catch(() => {});
    return moved;
  }

  #jump(toMs: number): void {
    this.movedMs += Math.max(0, toMs - this.now());
    this.#arm();
  }

  /** Runs the first timer if it is due by then; whether it was. */
  #ring(byMs: number): boolean {
    const first = this.#timers.rows.at(-1);
    if (first === undefined || first.dueMs > byMs) return false;
    this.#jump(first.dueMs);
    this.#timers.rows.pop();
    first.run();
    return true;
  }

  /** Waits for the first timer, and for no other. */
  #arm(): void {
    this.#disarm();
    const { nextDueMs } = this;
    if (nextDueMs === null) return;
    const leftMs = Math.max(0, nextDueMs - this.now()) / this.factor;
    // The runtime's own timers take no longer delay; this one is set again then.
    const waitMs = Math.min(leftMs, 2 ** 31 - 1);
    this.#disarm = this.#followed.setTimer(waitMs, () => {
      try {
        while (this.#ring(this.now()));
      } finally {
        this.#arm();
      }
    });
  }
}

/** The machine's own clock. */
const MACHINE: PlainClock = {
  now: () => Date.now(),
  setTimer: (delayMs, run) => {
    const id = setTimeout(run, Math.ceil(delayMs));
    return () => clearTimeout(id);
  },
};

/** A clock that never passes. */
const STANDING: PlainClock = { now: () => 0, setTimer: () => () => {} };

function positive(factor: number): number {
  if (Number.isFinite(factor) && factor > 0) return factor;
  throw new RangeError(
    `Cannot run a clock: factor must be a positive number, got ${factor}`,
  );
}

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Listens to a signal once for all sleeps that it ends: a signal searches all
 * its listeners whenever one comes or goes, and thousands may sleep on one.
 */
function onAbort(signal: AbortSignal, run: () => void): () => void {
  let all = listeners.get(signal);
  if (all === undefined) {
    const runs = all = new Set();
    listeners.set(signal, all);
    signal.addEventListener("abort", () => {
      for (const run of runs) run();
    }, { once: true });
  }
  all.add(run);
  return () => all.delete(run);
}
