/**
 * The clock that everything in the sandbox goes by.
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
   * example a database call: a virtual clock stands still until it is done.
   * Such work must not wait for this clock itself.
   */
  work<T>(promise: Promise<T>): Promise<T>;
  /**
   * The clock for waiting on a real network, where that differs: an answer
   * over a socket takes real milliseconds however fast this clock runs.
   */
  readonly wire?: SandboxClock;
}

/**
 * Sleeps on any timer, for clocks that have a `setTimer` only.
 *
 * @param setTimer Starts a timer and returns a function that cancels it.
 * @param ms How long to sleep, in milliseconds.
 * @param signal Ends the sleep early with its reason.
 * @returns When the time is over.
 */
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
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = setTimer(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
