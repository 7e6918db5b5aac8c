import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { FOLD_PACE_RULES, FoldPace } from "./fold_pace.ts";

/** What the worker does its work with. */
export interface ProjectionWorkerOptions {
  /** `pace` is waited for before each step, and says how many events it may take. */
  readonly catchUp: (
    signal: AbortSignal,
    pace: () => Promise<number>,
  ) => Promise<void>;
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
 * fold is retried automatically. While many deliveries are received, senders go
 * first: {@linkcode FoldPace} says how far.
 */
export class ProjectionWorker implements AsyncDisposable {
  readonly #options: Required<ProjectionWorkerOptions>;
  readonly #controller = new AbortController();
  readonly #done: Promise<void>;
  #wake: () => void = () => {};
  #woken = false;
  readonly #pace: FoldPace;

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
    this.#pace = new FoldPace(FOLD_PACE_RULES, this.#options.now());
    this.#done = this.#run();
  }

  received(): void {
    this.#pace.received();
  }

  wake(count = 1): void {
    this.#pace.appended(count);
    this.#woken = true;
    this.#wake();
  }

  /** Does other work that folds at the pace of this one. */
  async paced<Result>(
    work: (pace: () => Promise<number>) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work(this.#next);
    } finally {
      this.#pace.ended(this.#options.now());
    }
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
        await this.paced((pace) => catchUp(stopped, pace));
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
      await catchUp(late.signal, () => Promise.resolve(Infinity));
    } catch (error) {
      if (!late.signal.aborted) onError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits until the next step may be made. */
  readonly #next = async (): Promise<number> => {
    for (;;) {
      const { waitMs, mostEvents } = this.#pace.next(this.#options.now());
      if (waitMs === 0 || this.#controller.signal.aborted) return mostEvents;
      await this.#sleep(waitMs, false);
    }
  };

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
