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
