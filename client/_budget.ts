/** What a budget measures and allows. */
export interface BudgetOptions {
  /** Requests that may start in one second. */
  readonly requestsPerSecond: number;
  /** Requests that may be on their way at once. */
  readonly maxInFlight: number;
  /** Clock in milliseconds. */
  readonly now: () => number;
  /** Waits. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * A polite rate shared by all calls of a client: starts are evenly spaced and
 * first come, first served; an abandoned wait costs nobody a place.
 */
export class RateBudget {
  readonly #options: BudgetOptions;
  readonly #intervalMs: number;
  #queue: Promise<void> = Promise.resolve();
  #nextStart = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #freed: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#intervalMs = 1000 / options.requestsPerSecond;
  }

  /** Holds every start back until a time, because the service asked for it. */
  pauseUntil(timeMs: number): void {
    this.#nextStart = Math.max(this.#nextStart, timeMs);
  }

  /**
   * Waits for a place and returns what gives it back.
   *
   * @param late Says that a wait of so many milliseconds would be too long.
   */
  async take(
    signal: AbortSignal,
    late: (waitMs: number) => void,
  ): Promise<() => void> {
    const { promise: done, resolve: leave } = Promise.withResolvers<void>();
    const turn = this.#queue;
    this.#queue = turn.then(() => done);
    try {
      await unlessAborted(turn, signal);
      while (this.#inFlight >= this.#options.maxInFlight) {
        await unlessAborted(this.#freed.promise, signal);
      }
      // A sleep is trusted once, so that a test's sleep cannot spin; only a
      // pause that came meanwhile is waited for again.
      for (;;) {
        const start = this.#nextStart;
        const waitMs = start - this.#options.now();
        if (waitMs <= 0) break;
        late(waitMs);
        await this.#options.sleep(waitMs, signal);
        if (this.#nextStart === start) break;
      }
      signal.throwIfAborted();
      this.#nextStart = Math.max(this.#nextStart, this.#options.now()) +
        this.#intervalMs;
      this.#inFlight++;
      return () => this.#release();
    } finally {
      leave();
    }
  }

  #release(): void {
    this.#inFlight--;
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }
}

async function unlessAborted(
  wait: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
