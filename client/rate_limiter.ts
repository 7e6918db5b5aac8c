import { within } from "../core/waiting/waiting.ts";

/** What a budget measures and allows. */
export interface RateLimiterOptions {
  /** Requests that may start in one second. */
  readonly requestsPerSecond: number;
  /** Requests that may be on their way at once. */
  readonly maxInFlight: number;
  /** A clock that is never set back, ms. */
  readonly now: () => number;
  /** Waits. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** A call that waits for its turn. */
interface Wish {
  /** When waiting is over, on the budget's clock. */
  readonly endsAt: number;
  /** What to throw then. */
  readonly late: () => Error;
  /** The place, once it was taken. */
  place: Place | null;
}

/** A place among the requests that are on their way. */
export interface Place {
  /** When it was taken, on the budget's clock. */
  readonly startedAt: number;
  /** Gives it back. */
  readonly release: () => void;
}

/**
 * A rate limit shared by all calls of a client: starts are evenly spaced and
 * first come, first served; an abandoned wait gives up its place.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #intervalMs: number;
  #waiting = 0;
  #queue: Promise<void> = Promise.resolve();
  #nextStart = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #freed: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#intervalMs = 1000 / options.requestsPerSecond;
  }

  /** Delays every start until a time, because the service asked for it. */
  pauseUntil(timeMs: number): void {
    this.#nextStart = Math.max(this.#nextStart, timeMs);
  }

  /** Waits for a place. */
  async take(
    endsAt: number,
    late: () => Error,
    signal: AbortSignal | undefined,
  ): Promise<Place> {
    signal?.throwIfAborted();
    const now = this.#now();
    const leftMs = endsAt - now;
    if (leftMs <= 0) throw late();
    // A call that need not wait needs no timer.
    if (this.#waiting === 0 && this.#hasPlace() && this.#nextStart <= now) {
      return this.#start(now);
    }
    const wish: Wish = { endsAt, late, place: null };
    try {
      return await within(
        leftMs,
        signal,
        late,
        (stop) => this.#wait(wish, stop),
      );
    } catch (error) {
      // The place may have come in the very moment of giving up.
      wish.place?.release();
      throw error;
    }
  }

  /** The clock; where it was set back, the next start is moved along. */
  #now(): number {
    const now = this.#options.now();
    if (now < this.#last) this.#nextStart -= this.#last - now;
    this.#last = now;
    return now;
  }

  async #wait(wish: Wish, signal: AbortSignal): Promise<Place> {
    const { promise: done, resolve: leave } = Promise.withResolvers<void>();
    const turn = this.#queue;
    this.#queue = turn.then(() => done);
    this.#waiting++;
    try {
      await turn;
      signal.throwIfAborted();
      while (!this.#hasPlace()) {
        await unlessAborted(this.#freed.promise, signal);
      }
      // A sleep is trusted once, so that a test's sleep cannot spin; only a
      // pause that came meanwhile is waited for again.
      for (;;) {
        const start = this.#nextStart;
        const now = this.#now();
        const waitMs = this.#nextStart - now;
        if (waitMs <= 0) break;
        if (now + waitMs >= wish.endsAt) throw wish.late();
        await this.#options.sleep(waitMs, signal);
        if (this.#nextStart === start) break;
      }
      signal.throwIfAborted();
      return wish.place = this.#start(this.#now());
    } finally {
      this.#waiting--;
      leave();
    }
  }

  #hasPlace(): boolean {
    return this.#inFlight < this.#options.maxInFlight;
  }

  #start(now: number): Place {
    this.#nextStart = Math.max(this.#nextStart, now) +
      this.#intervalMs;
    this.#inFlight++;
    return {
      startedAt: now,
      release: () => {
        this.#inFlight--;
        this.#freed.resolve();
        this.#freed = Promise.withResolvers();
      },
    };
  }
}

async function unlessAborted(
  wait: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
