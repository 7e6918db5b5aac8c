/** What the follower does its work with. */
export interface FollowerOptions {
  /** Brings read models and evidence up to the head of the ledger. */
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  /** Told of every failure; the work is tried again by itself. */
  readonly onError?: (error: unknown) => void;
  /** Rest between a wake-up and the work, ms, so that a burst is folded in one
   * step. @default 20 */
  readonly restMs?: number;
  /** Looks at the ledger even when nobody calls, ms: other processes append
   * too. @default 1000 */
  readonly idleMs?: number;
  /** Longest wait after failures, ms. @default 30000 */
  readonly maxBackoffMs?: number;
}

/**
 * Runs behind the endpoint: the answer never waits for the fold, and the fold
 * is never far behind. `wake()` costs nothing and may be called per request.
 */
export class Follower implements AsyncDisposable {
  readonly #options: Required<FollowerOptions>;
  readonly #controller = new AbortController();
  readonly #done: Promise<void>;
  #wake: () => void = () => {};
  #woken = false;

  /** Starts following at once. */
  constructor(options: FollowerOptions) {
    this.#options = {
      restMs: 20,
      idleMs: 1000,
      maxBackoffMs: 30_000,
      onError: () => {},
      ...options,
    };
    this.#done = this.#run();
  }

  /** Says that something was appended. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /** Stops following, does the work one last time, and resolves. */
  async stop(): Promise<void> {
    this.#controller.abort();
    this.#wake();
    await this.#done;
  }

  /** Same as {@linkcode Follower.stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { catchUp, onError, restMs, idleMs, maxBackoffMs } = this.#options;
    const stopped = this.#controller.signal;
    const never = new AbortController().signal;
    let failures = 0;
    while (!stopped.aborted) {
      try {
        this.#woken = false;
        await catchUp(stopped);
        failures = 0;
      } catch (error) {
        if (!stopped.aborted) {
          failures++;
          onError(error);
        }
      }
      if (stopped.aborted) break;
      await this.#sleep(
        failures === 0
          ? idleMs
          : Math.min(idleMs * 2 ** failures, maxBackoffMs),
        failures === 0,
      );
      if (restMs > 0 && !stopped.aborted) await this.#sleep(restMs, false);
    }
    try {
      await catchUp(never);
    } catch (error) {
      onError(error);
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
