/** Waits; rejects with the signal's reason when it is aborted meanwhile. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * Makes a clock that never goes back from one that may be set back. A pause
 * measured by it does not last longer than meant.
 *
 * @param now The clock, in ms.
 * @returns Milliseconds since an arbitrary beginning.
 *
 * @example A clock that is set back by ten minutes
 * ```ts
 * import assert from "node:assert/strict";
 *
 * let time = 1_000_000;
 * const steady = steadyClock(() => time);
 * time -= 600_000;
 * assert.equal(steady(), 0);
 * time += 5;
 * assert.equal(steady(), 5);
 * ```
 */
export function steadyClock(now: () => number): () => number {
  let last = now();
  let passedMs = 0;
  return () => {
    const time = now();
    passedMs += Math.max(0, time - last);
    last = time;
    return passedMs;
  };
}
