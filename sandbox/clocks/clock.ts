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
