import type { SandboxClock } from "./clock.ts";

/** Sleeps on any timer, for clocks that have a `setTimer` only. */
export function sleepOn(
  setTimer: SandboxClock["setTimer"],
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const forget = signal && onAbort(signal, () => {
      cancel();
      reject(signal.reason);
    });
    const cancel = setTimer(ms, () => {
      forget?.();
      resolve();
    });
  });
}

/** The function to call when a signal aborts. */
interface Sleepers {
  readonly all: Set<() => void>;
  readonly wake: () => void;
}

const sleepersOf = new WeakMap<AbortSignal, Sleepers>();

/**
 * Listens to a signal once for all sleeps that it ends: a signal searches all
 * its listeners whenever one comes or goes, and thousands may sleep on one.
 *
 * @returns A function that takes `run` back.
 */
function onAbort(signal: AbortSignal, run: () => void): () => void {
  let sleepers = sleepersOf.get(signal);
  if (sleepers === undefined) {
    const all = new Set<() => void>();
    const wake = () => {
      sleepersOf.delete(signal);
      for (const run of all) run();
    };
    sleepers = { all, wake };
    sleepersOf.set(signal, sleepers);
    signal.addEventListener("abort", wake, { once: true });
  }
  const { all, wake } = sleepers;
  all.add(run);
  return () => {
    all.delete(run);
    if (all.size > 0) return;
    signal.removeEventListener("abort", wake);
    sleepersOf.delete(signal);
  };
}
