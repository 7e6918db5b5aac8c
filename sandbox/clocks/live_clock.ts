import type { SandboxClock } from "./clock.ts";
import { realClock } from "./real_clock.ts";
import {
  loopTurn,
  PendingWork,
  refuseBackwards,
  type Timer,
  TimerQueue,
} from "./timer_queue.ts";
import { sleepOn } from "./sleep.ts";

/** A clock that can be moved ahead. */
export interface MovableClock extends SandboxClock {
  /** Moves ahead by `ms` milliseconds, and runs the timers due on the way. */
  advance(ms: number): Promise<void>;
}

/** Whether a clock can be moved ahead. */
export function isMovable(clock: SandboxClock): clock is MovableClock {
  return "advance" in clock && typeof clock.advance === "function";
}

/** Turns of the event loop given to promises between two timers. */
const TURNS = 4;

/**
 * The clock of this machine, which a person can move ahead. While it is moved
 * it stops at every timer on the way until the webhooks that are under way
 * then are answered, so that retries fall due one after the other as they
 * would in real time.
 */
export class LiveClock implements MovableClock {
  /** Waiting on a network takes real time. */
  readonly wire: SandboxClock;
  readonly #timers = new TimerQueue();
  /** Ends the real wait of each timer. */
  readonly #waits = new Map<Timer, () => void>();
  readonly #work = new PendingWork();
  #movedMs = 0;
  #moving: Promise<void> = Promise.resolve();

  /** Makes a clock that follows `real`: the machine's clock, unless a test sets it. */
  constructor(real: SandboxClock = realClock()) {
    this.wire = real;
  }

  /** How far it was moved ahead of the real clock, ms. */
  get movedMs(): number {
    return this.#movedMs;
  }

  /** Time, in milliseconds since the epoch. */
  now(): number {
    return this.wire.now() + this.#movedMs;
  }

  /** Calls `run` once, `delayMs` milliseconds from now. */
  setTimer(delayMs: number, run: () => void): () => void {
    const dueMs = this.now() + Math.max(0, delayMs);
    const timer = this.#timers.add(dueMs, run);
    this.#arm(timer);
    return () => this.#take(timer);
  }

  /** Waits `ms` milliseconds. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn((delay, run) => this.setTimer(delay, run), ms, signal);
  }

  /** Work that a move waits for at every timer. */
  work<T>(promise: Promise<T>): Promise<T> {
    return this.#work.add(promise);
  }

  /**
   * Moves ahead by `ms` milliseconds; one move after the other.
   *
   * @throws {RangeError} If `ms` is negative or no number.
   */
  advance(ms: number): Promise<void> {
    refuseBackwards(ms);
    const moved = this.#moving.then(() => this.#move(ms));
    this.#moving = moved.catch(() => {});
    return moved;
  }

  async #move(ms: number): Promise<void> {
    const targetMs = this.now() + ms;
    for (;;) {
      await this.#settle();
      const next = this.#timers.first();
      if (next === null || next.dueMs > targetMs) break;
      this.#jump(next.dueMs);
      this.#fire(next);
    }
    this.#jump(targetMs);
    for (const timer of this.#timers.all()) this.#arm(timer);
  }

  async #settle(): Promise<void> {
    do {
      await this.#work.done();
      for (let turn = 0; turn < TURNS; turn++) await loopTurn();
    } while (this.#work.isRunning);
  }

  #jump(toMs: number): void {
    this.#movedMs += Math.max(0, toMs - this.now());
  }

  #arm(timer: Timer): void {
    this.#waits.get(timer)?.();
    const leftMs = Math.max(0, timer.dueMs - this.now());
    this.#waits.set(timer, this.wire.setTimer(leftMs, () => this.#fire(timer)));
  }

  #fire(timer: Timer): void {
    this.#take(timer);
    timer.run();
  }

  #take(timer: Timer): void {
    timer.over = true;
    this.#waits.get(timer)?.();
    this.#waits.delete(timer);
    // Removes finished timers from the front of the queue.
    this.#timers.first();
  }
}
