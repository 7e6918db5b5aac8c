import {
  type VirtualClock,
  virtualClock,
  type VirtualClockOptions,
} from "../../../sandbox/mod.ts";

/** A clock that stands at whole milliseconds only, as real ones do. */
export function wholeClock(
  startMs: number,
  options: VirtualClockOptions,
): VirtualClock {
  const clock = virtualClock(startMs, options);
  const { setTimer } = clock;
  return Object.assign(clock, {
    setTimer: (delayMs: number, run: () => void) =>
      setTimer.call(clock, Math.ceil(delayMs), run),
  });
}

/**
 * Lets the whole process live on a virtual clock while `run` goes on: its
 * timers and its time of day. Whatever forgot to take a clock as an argument
 * would otherwise wait for real time, and no seed would repeat.
 *
 * @param clock The clock.
 * @param run What to do; nobody else may run meanwhile.
 */
export async function onVirtualTime<T>(
  clock: VirtualClock,
  run: () => Promise<T>,
): Promise<T> {
  const { setTimeout, clearTimeout } = globalThis;
  const { now } = Date;
  const timers = new Map<number, () => void>();
  let last = 0;
  const set = (
    call: (...args: unknown[]) => void,
    ms = 0,
    ...args: unknown[]
  ): number => {
    const id = ++last;
    timers.set(
      id,
      clock.setTimer(ms, () => {
        timers.delete(id);
        call(...args);
      }),
    );
    return id;
  };
  const clear = (id?: number): void => {
    if (id === undefined) return;
    timers.get(id)?.();
    timers.delete(id);
  };
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  Date.now = () => clock.now();
  try {
    return await run();
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
    Date.now = now;
  }
}

/**
 * Lets time pass while a promise waits, as far as it needs and no further.
 *
 * @param clock The clock.
 * @param promise What is waited for.
 * @param limitMs Longest that may take, in milliseconds of the clock.
 * @throws {Error} When it takes longer, or waits for what never comes.
 */
export async function passing<T>(
  clock: VirtualClock,
  promise: Promise<T>,
  limitMs: number,
): Promise<T> {
  const endsAt = clock.now() + limitMs;
  let settled = false;
  const end = () => {
    settled = true;
  };
  promise.then(end, end);
  await clock.settle();
  while (!settled) {
    const dueMs = clock.nextDueMs;
    if (dueMs === null || dueMs > endsAt) {
      throw new Error(
        dueMs === null
          ? "It waits for something that never comes"
          : `It was not done after ${limitMs} ms`,
      );
    }
    await clock.runUntil(dueMs);
  }
  return await promise;
}
