import type { SandboxClock } from "./clock.ts";
import { sleepOn } from "./sleep.ts";

/** Longest delay the runtime's own timers take, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The clock of this machine.
 *
 * @returns A clock that passes as real time does.
 *
 * @example Read the time
 * ```ts
 * import { realClock } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const clock = realClock();
 * assert.ok(Math.abs(clock.now() - Date.now()) < 1000);
 * ```
 */
export function realClock(): SandboxClock {
  return {
    now: () => Date.now(),
    setTimer: realTimer,
    sleep: (ms, signal) => sleepOn(realTimer, ms, signal),
    work: (promise) => promise,
  };
}

/** How a fast clock starts. */
export interface FastClockOptions {
  /** Milliseconds of its time per real millisecond. */
  readonly factor: number;
  /**
   * Time it starts at, in milliseconds since the epoch.
   * @default {Date.now()}
   */
  readonly startMs?: number;
}

/** A clock that runs faster than real time. */
export interface FastClock extends SandboxClock {
  /** Milliseconds of its time per real millisecond. */
  readonly factor: number;
  /** Changes the pace from now on; timers already set follow. */
  setFactor(factor: number): void;
  /** The real clock, for waiting on a network. */
  readonly wire: SandboxClock;
}

/**
 * A clock that runs faster than real time by a factor: a day of orders in ten
 * seconds, over a real network.
 *
 * @param options Pace and start.
 * @returns The clock, running.
 * @throws {RangeError} If the factor is not a positive number.
 *
 * @example An hour a second
 * ```ts
 * import { fastClock } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const clock = fastClock({ factor: 3600, startMs: 0 });
 * await clock.sleep(36_000);
 * assert.ok(clock.now() >= 36_000);
 * ```
 */
export function fastClock(options: FastClockOptions): FastClock {
  let factor = positive(options.factor);
  let baseMs = options.startMs ?? Date.now();
  let baseRealMs = performance.now();
  const rearm = new Set<() => void>();
  const now = () =>
    Math.floor(baseMs + (performance.now() - baseRealMs) * factor);
  const setTimer = (delayMs: number, run: () => void): () => void => {
    const dueMs = now() + Math.max(0, delayMs);
    let cancelReal: () => void;
    const arm = () => {
      cancelReal = realTimer(Math.max(0, (dueMs - now()) / factor), () => {
        if (now() < dueMs) return arm();
        rearm.delete(again);
        run();
      });
    };
    const again = () => {
      cancelReal();
      arm();
    };
    rearm.add(again);
    arm();
    return () => {
      rearm.delete(again);
      cancelReal();
    };
  };
  return {
    now,
    setTimer,
    sleep: (ms, signal) => sleepOn(setTimer, ms, signal),
    work: (promise) => promise,
    wire: realClock(),
    get factor() {
      return factor;
    },
    setFactor(next) {
      positive(next);
      baseMs = now();
      baseRealMs = performance.now();
      factor = next;
      for (const again of [...rearm]) again();
    },
  };
}

/** Refuses a pace that would stop time or turn it back. */
function positive(factor: number): number {
  if (Number.isFinite(factor) && factor > 0) return factor;
  throw new RangeError(
    `Cannot run a clock: factor must be a positive number, got ${factor}`,
  );
}

/** `setTimeout` without its limit of 24.8 days. */
function realTimer(delayMs: number, run: () => void): () => void {
  let id: ReturnType<typeof setTimeout>;
  const arm = (leftMs: number) => {
    id = leftMs > MAX_TIMER_MS
      ? setTimeout(() => arm(leftMs - MAX_TIMER_MS), MAX_TIMER_MS)
      : setTimeout(run, Math.max(0, Math.ceil(leftMs)));
  };
  arm(delayMs);
  return () => clearTimeout(id);
}
