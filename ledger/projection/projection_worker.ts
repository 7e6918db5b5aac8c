import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { sleep } from "../../core/waiting/sleep.ts";

export interface ProjectionWorkerOptions {
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  readonly onError?: (error: unknown) => void;
  readonly onDone?: () => void;
  /** Shortest time between two runs, ms: what comes meanwhile is folded in one step. */
  readonly restMs?: number;
  /** Looks at the ledger even when nobody calls, ms: other processes append too. */
  readonly idleMs?: number;
  readonly maxBackoffMs?: number;
  /** Longest time for a last fold when stopped, ms: container runtimes kill after ten. */
  readonly lastMs?: number;
  readonly now?: () => number;
}

/**
 * Folds at all times, for a process that runs until it is stopped. A failed
 * fold is retried automatically.
 */
export class ProjectionWorker implements AsyncDisposable {
  readonly #options: Required<ProjectionWorkerOptions>;
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;
  #woken = new AbortController();

  constructor(options: ProjectionWorkerOptions) {
    this.#options = {
      restMs: 20,
      idleMs: 1000,
      maxBackoffMs: 30_000,
      lastMs: 5_000,
      onError: () => {},
      onDone: () => {},
      now: () => performance.now(),
      ...options,
    };
    this.#done = this.#run();
  }

  wake(): void {
    this.#woken.abort();
  }

  /** Does the work one last time, as far as `lastMs` allows, and resolves. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.wake();
    await this.#done;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { onDone, restMs, idleMs, maxBackoffMs, lastMs, now } = this.#options;
    const stopped = this.#stopped.signal;
    let failures = 0;
    while (!stopped.aborted) {
      this.#woken = new AbortController();
      if (await this.#catchUp(stopped)) {
        failures = 0;
        onDone();
      } else failures++;
      const endedMs = now();
      // A failed fold is not tried sooner because more comes.
      await (failures === 0 ? pause(idleMs, this.#woken.signal) : pause(
        backoffMs(failures + 1, { firstMs: idleMs, longestMs: maxBackoffMs }),
        stopped,
      ));
      await pause(Math.min(restMs, endedMs + restMs - now()), stopped);
    }
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), lastMs);
    await this.#catchUp(late.signal);
    clearTimeout(timer);
  }

  /** Whether it went well. */
  async #catchUp(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.catchUp(signal);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#options.onError(error);
      return false;
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return ms > 0 ? sleep(ms, signal).catch(() => {}) : Promise.resolve();
}
