import { backoffMs } from "../../core/waiting/retry_delay.ts";

/** What the worker does its work with. */
export interface ProjectionWorkerOptions {
  /**
   * Brings read models and evidence up to the head of the ledger. `pace` is to
   * be waited for before each step, and says how many events it may take.
   */
  readonly catchUp: (
    signal: AbortSignal,
    pace: () => Promise<number>,
  ) => Promise<void>;
  /** Called with each error. @default {none} */
  readonly onError?: (error: unknown) => void;
  /** Called after each success. @default {none} */
  readonly onDone?: () => void;
  /** Rest between a wake-up and the work, ms, so that a burst is folded in one
   * step. @default 20 */
  readonly restMs?: number;
  /** Looks at the ledger even when nobody calls, ms: other processes append
   * too. @default 1000 */
  readonly idleMs?: number;
  /** Longest wait after failures, ms. @default 30000 */
  readonly maxBackoffMs?: number;
  /** Appends in a second from which on they go first. @default 500 */
  readonly crowdedPerSecond?: number;
  /** Longest that a step waits for appends to calm down, ms. @default 5000 */
  readonly maxYieldMs?: number;
  /** The clock, ms. @default performance.now */
  readonly now?: () => number;
}

/** Appends are counted over this long to measure their rate, in ms. */
const RATE_WINDOW_MS = 50;
/** Looks without a crowd that end it. One is not enough: while the disk stalls
 * no append is counted either. */
const CALM_LOOKS = 4;
/**
 * Most events of a step: this thread answers deliveries too, and they wait while
 * a step is folded. Measured: the longest wait is a fifth of that with steps of
 * 4,000, and as many events are folded in a second.
 */
const STEP_EVENTS = 500;

/**
 * Folds at all times, for a process that runs until it is told to stop. A
 * failed fold is tried again by itself. Appends go first: while many come, the
 * fold waits, but for a bounded time.
 */
export class ProjectionWorker implements AsyncDisposable {
  readonly #options: Required<ProjectionWorkerOptions>;
  readonly #controller = new AbortController();
  readonly #done: Promise<void>;
  #wake: () => void = () => {};
  #woken = false;
  #appends = 0;
  #countedSince: number;

  /** Starts at once. */
  constructor(options: ProjectionWorkerOptions) {
    this.#options = {
      restMs: 20,
      idleMs: 1000,
      maxBackoffMs: 30_000,
      onError: () => {},
      onDone: () => {},
      crowdedPerSecond: 500,
      maxYieldMs: 5000,
      now: () => performance.now(),
      ...options,
    };
    this.#countedSince = this.#options.now();
    this.#done = this.#run();
  }

  /** Says that events were appended. */
  wake(count = 1): void {
    this.#woken = true;
    this.#appends += count;
    this.#wake();
  }

  /** Does the work one last time, and resolves. */
  async stop(): Promise<void> {
    this.#controller.abort();
    this.#wake();
    await this.#done;
  }

  /** Same as {@linkcode ProjectionWorker.stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { catchUp, onError, onDone, restMs, idleMs, maxBackoffMs } =
      this.#options;
    const stopped = this.#controller.signal;
    const never = new AbortController().signal;
    let failures = 0;
    while (!stopped.aborted) {
      try {
        this.#woken = false;
        await catchUp(stopped, this.#pace);
        failures = 0;
        onDone();
      } catch (error) {
        if (!stopped.aborted) {
          failures++;
          onError(error);
        }
      }
      if (stopped.aborted) break;
      await this.#sleep(
        failures === 0 ? idleMs : backoffMs(failures + 1, {
          firstMs: idleMs,
          longestMs: maxBackoffMs,
        }),
        failures === 0,
      );
      if (restMs > 0 && !stopped.aborted) await this.#sleep(restMs, false);
    }
    try {
      await catchUp(never, () => Promise.resolve(Infinity));
    } catch (error) {
      onError(error);
    }
  }

  /**
   * Waits until few appends come, because senders wait for them and not for
   * the fold. After `maxYieldMs` a step is made all the same.
   */
  readonly #pace = async (): Promise<number> => {
    const { maxYieldMs, now } = this.#options;
    const dueAt = now() + maxYieldMs;
    let calmLooks = this.#isCrowded() ? 0 : CALM_LOOKS;
    while (calmLooks < CALM_LOOKS && !this.#controller.signal.aborted) {
      if (now() >= dueAt) break;
      await this.#sleep(RATE_WINDOW_MS, false);
      calmLooks = this.#isCrowded() ? 0 : calmLooks + 1;
    }
    return STEP_EVENTS;
  };

  /** Whether many appends came since this was last asked. */
  #isCrowded(): boolean {
    const now = this.#options.now();
    const seconds = (now - this.#countedSince) / 1000;
    // Too short a time says nothing; of a long one most was quiet.
    const counted = Math.min(Math.max(seconds, RATE_WINDOW_MS / 1000), 0.2);
    const crowded = this.#appends > this.#options.crowdedPerSecond * counted;
    this.#appends = 0;
    this.#countedSince = now;
    return crowded;
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
