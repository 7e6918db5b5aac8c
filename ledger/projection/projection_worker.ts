import { backoffMs } from "../../core/waiting/retry_delay.ts";

/** What the worker does its work with. */
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
  readonly #controller = new AbortController();
  readonly #done: Promise<void>;
  #wake: () => void = () => {};
  #woken = false;

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
    this.#woken = true;
    this.#wake();
  }

  /** Does the work one last time, as far as `lastMs` allows, and resolves. */
  async stop(): Promise<void> {
    this.#controller.abort();
    this.#wake();
    await this.#done;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { catchUp, onError, onDone, restMs, idleMs, maxBackoffMs, now } =
      this.#options;
    const stopped = this.#controller.signal;
    let failures = 0;
    while (!stopped.aborted) {
      try {
        this.#woken = false;
        await catchUp(stopped);
        failures = 0;
        onDone();
      } catch (error) {
        if (!stopped.aborted) {
          failures++;
          onError(error);
        }
      }
      const endedMs = now();
      if (stopped.aborted) break;
      await this.#sleep(
        failures === 0 ? idleMs : backoffMs(failures + 1, {
          firstMs: idleMs,
          longestMs: maxBackoffMs,
        }),
        failures === 0,
      );
      const leftMs = Math.min(restMs, endedMs + restMs - now());
      if (leftMs > 0 && !stopped.aborted) await this.#sleep(leftMs, false);
    }
    await this.#last();
  }

  async #last(): Promise<void> {
    const { catchUp, onError, lastMs } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), lastMs);
    try {
      await catchUp(late.signal);
    } catch (error) {
      if (!late.signal.aborted) onError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #sleep(ms: number, wakeable: boolean): Promise<void> {
    if (wakeable && this.#woken) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#wake = () => {
        if (wakeable || this.#controller.signal.aborted) end();
      };
    });
  }
}
