import { setImmediate } from "node:timers";
import { Sorted } from "./sorted.ts";

/**
 * The clock that the whole sandbox uses.
 *
 * Hand the same clock to whatever runs beside the sandbox, and hours of
 * retries pass in milliseconds.
 */
export interface SandboxClock {
  /** Time, in milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `run` once, `delayMs` milliseconds from now.
   *
   * @returns A function that cancels the call.
   */
  setTimer(delayMs: number, run: () => void): () => void;
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
  readonly wire?: SandboxClock;
}

/** A clock that can be moved ahead. */
export interface MovableClock extends SandboxClock {
  /**
   * Moves ahead by `ms` milliseconds, one move after the other, and runs the
   * timers that are due on the way.
   *
   * @throws {RangeError} If `ms` is negative or no number.
   */
  advance(ms: number): Promise<void>;
}

/** Whether a clock can be moved ahead. */
export function isMovable(clock: SandboxClock): clock is MovableClock {
  return "advance" in clock && typeof clock.advance === "function";
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
export class VirtualClock implements MovableClock {
  /** Clock for waiting on a real network, if one was given. */
  readonly wire?: SandboxClock;
  readonly #timers: Timers;
  #now: number;

  /**
   * Makes a clock that stands still.
   *
   * @param startMs Time it stands at, in milliseconds since the epoch.
   * @param options How promises settle between timers.
   */
  constructor(startMs: number, options: VirtualClockOptions = {}) {
    this.#now = startMs;
    this.#timers = new Timers(options.turns, options.settle);
    if (options.wire) this.wire = options.wire;
  }

  /** Time, in milliseconds since the epoch. */
  now(): number {
    return this.#now;
  }

  /** Timers that are set and have not run. */
  get pendingTimers(): number {
    return this.#timers.count;
  }

  /** When the next timer is due, or null. */
  get nextDueMs(): number | null {
    return this.#timers.first()?.dueMs ?? null;
  }

  /** Calls `run` once the clock has moved on by `delayMs` milliseconds. */
  setTimer(delayMs: number, run: () => void): () => void {
    const timer = this.#timers.add(this.#now, delayMs, run);
    return () => this.#timers.end(timer);
  }

  /** Waits until the clock has moved on by `ms` milliseconds. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Stops the clock until `promise` settles. */
  work<T>(promise: Promise<T>): Promise<T> {
    return this.#timers.work(promise);
  }

  /**
   * Moves on by `ms` milliseconds.
   *
   * @throws {RangeError} If `ms` is negative or no number.
   */
  advance(ms: number): Promise<void> {
    refuseBackwards(ms);
    return this.#move(() => this.#now + ms);
  }

  /**
   * Moves on to `timeMs`; a time already past changes nothing.
   */
  runUntil(timeMs: number): Promise<void> {
    return this.#move(() => Math.max(timeMs, this.#now));
  }

  /**
   * Moves on from timer to timer until none is left, `until` says so, or
   * `limitMs` milliseconds have passed.
   */
  runUntilIdle(
    options: { limitMs?: number; until?: () => boolean } = {},
  ): Promise<void> {
    const { limitMs = 366 * 86_400_000, until = () => false } = options;
    return this.#move(
      () => this.#now + limitMs,
      () => until() || this.#timers.first() === null,
    );
  }

  /** Lets promises and marked work settle without moving time. */
  settle(): Promise<void> {
    return this.#timers.settle();
  }

  #move(limitMs: () => number, stop?: () => boolean): Promise<void> {
    return this.#timers.move(limitMs, {
      jump: (toMs) => this.#now = Math.max(this.#now, toMs),
      ...(stop && { stop }),
    });
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
  readonly wire?: SandboxClock;
}

/** A clock that passes by itself and can be moved ahead. */
export interface RealClock extends MovableClock {
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
  readonly wire: SandboxClock;
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
  return new PassingClock(options);
}

class PassingClock implements RealClock {
  readonly wire: SandboxClock;
  readonly #timers = new Timers();
  #factor: number;
  #baseMs: number;
  #baseWireMs: number;
  #movedMs = 0;
  #armed: Timer | null = null;
  #disarm: () => void = () => {};

  constructor({ factor = 1, startMs, wire = MACHINE }: RealClockOptions) {
    this.wire = wire;
    this.#factor = positive(factor);
    this.#baseWireMs = wire.now();
    this.#baseMs = startMs ?? this.#baseWireMs;
  }

  now(): number {
    const passedMs = (this.wire.now() - this.#baseWireMs) * this.#factor;
    return Math.floor(this.#baseMs + passedMs) + this.#movedMs;
  }

  get factor(): number {
    return this.#factor;
  }

  get movedMs(): number {
    return this.#movedMs;
  }

  setFactor(factor: number): void {
    positive(factor);
    this.#baseMs = this.now() - this.#movedMs;
    this.#baseWireMs = this.wire.now();
    this.#factor = factor;
    this.#arm(true);
  }

  setTimer(delayMs: number, run: () => void): () => void {
    const timer = this.#timers.add(this.now(), delayMs, run);
    this.#arm();
    return () => {
      this.#timers.end(timer);
      this.#arm();
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  work<T>(promise: Promise<T>): Promise<T> {
    return this.#timers.work(promise);
  }

  advance(ms: number): Promise<void> {
    refuseBackwards(ms);
    return this.#timers.move(() => this.now() + ms, {
      jump: (toMs) => this.#movedMs += Math.max(0, toMs - this.now()),
    }).finally(() => this.#arm(true));
  }

  /** Waits in real time for the first timer, and for no other. */
  #arm(again = false): void {
    const first = this.#timers.first();
    if (first === this.#armed && !again) return;
    this.#disarm();
    this.#armed = first;
    if (first === null) return;
    const leftMs = Math.max(0, first.dueMs - this.now()) / this.#factor;
    this.#disarm = this.wire.setTimer(leftMs, () => this.#ring());
  }

  #ring(): void {
    this.#armed = null;
    this.#disarm = () => {};
    try {
      for (;;) {
        const first = this.#timers.first();
        if (first === null || first.dueMs > this.now()) return;
        this.#timers.end(first);
        first.run();
      }
    } finally {
      this.#arm();
    }
  }
}

/** Longest delay the runtime's own timers take, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock, whose timers may be longer than 24.8 days. */
const MACHINE: SandboxClock = {
  now: () => Date.now(),
  setTimer: (delayMs, run) => {
    let id: ReturnType<typeof setTimeout>;
    const arm = (leftMs: number) => {
      id = leftMs > MAX_TIMER_MS
        ? setTimeout(() => arm(leftMs - MAX_TIMER_MS), MAX_TIMER_MS)
        : setTimeout(run, Math.max(0, Math.ceil(leftMs)));
    };
    arm(delayMs);
    return () => clearTimeout(id);
  },
  sleep: (ms, signal) => sleepOn(MACHINE, ms, signal),
  work: (promise) => promise,
};

interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly run: () => void;
  over: boolean;
}

/** The timers of a clock, and the work that it waits for while it is moved. */
class Timers {
  // The last one is due first, because taking the last moves no other.
  readonly #sorted = new Sorted<Timer>((a, b) =>
    a.dueMs > b.dueMs || (a.dueMs === b.dueMs && a.sequence > b.sequence)
  );
  readonly #pending = new Set<Promise<unknown>>();
  readonly #turns: number;
  readonly #settleMore: () => Promise<void>;
  #set = 0;
  #moving: Promise<void> = Promise.resolve();
  count = 0;

  constructor(turns = 4, settleMore = () => Promise.resolve()) {
    this.#turns = turns;
    this.#settleMore = settleMore;
  }

  add(nowMs: number, delayMs: number, run: () => void): Timer {
    const dueMs = nowMs + Math.max(0, Number.isNaN(delayMs) ? 0 : delayMs);
    const timer = { dueMs, sequence: this.#set++, run, over: false };
    this.#sorted.add(timer);
    this.count++;
    return timer;
  }

  end(timer: Timer): void {
    if (!timer.over) this.count--;
    timer.over = true;
  }

  first(): Timer | null {
    const { rows } = this.#sorted;
    while (rows.at(-1)?.over) rows.pop();
    return rows.at(-1) ?? null;
  }

  work<T>(promise: Promise<T>): Promise<T> {
    const done: Promise<unknown> = promise.then(() => {}, () => {}).finally(
      () => this.#pending.delete(done),
    );
    this.#pending.add(done);
    return promise;
  }

  async settle(): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < this.#turns; turn++) {
        await new Promise<void>((resolve) => setImmediate(() => resolve()));
      }
      await this.#settleMore();
      if (this.#pending.size === 0) return;
      await Promise.all(this.#pending);
    }
  }

  /** Jumps from timer to timer up to a limit, one move after the other. */
  move(
    limit: () => number,
    { jump, stop = () => false }: {
      jump: (toMs: number) => void;
      stop?: () => boolean;
    },
  ): Promise<void> {
    const moved = this.#moving.then(async () => {
      const limitMs = limit();
      await this.settle();
      while (!stop()) {
        const next = this.first();
        if (next === null || next.dueMs > limitMs) return jump(limitMs);
        this.end(next);
        jump(next.dueMs);
        next.run();
        await this.settle();
      }
    });
    this.#moving = moved.catch(() => {});
    return moved;
  }
}

function refuseBackwards(ms: number): void {
  if (ms >= 0) return;
  throw new RangeError(
    `Cannot advance the clock: ms must be zero or more, got ${ms}`,
  );
}

function positive(factor: number): number {
  if (Number.isFinite(factor) && factor > 0) return factor;
  throw new RangeError(
    `Cannot run a clock: factor must be a positive number, got ${factor}`,
  );
}

function sleepOn(
  clock: SandboxClock,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const forget = signal && onAbort(signal, () => {
      cancel();
      reject(signal.reason);
    });
    const cancel = clock.setTimer(ms, () => {
      forget?.();
      resolve();
    });
  });
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
