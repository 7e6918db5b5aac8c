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

/** The longest time that a timer can run, in ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs work that must end within `limitMs` and before `signal` is aborted, even
 * if the work itself ignores the signal that it is given.
 */
export async function within<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (reason: unknown) => {
    reject(reason);
    controller.abort(reason);
  };
  const onAbort = () => stop(signal?.reason);
  const timer = limitMs > LONGEST_TIMER_MS
    ? undefined
    : setTimeout(() => stop(late()), limitMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** What the wait before another attempt depends on. */
interface RetryDelayOptions {
  /** Attempts made so far, from 1. */
  readonly attempt: number;
  /** A random number from 0 up to 1. */
  readonly random: number;
  /** Wait the service asked for, in milliseconds; null when it named none. */
  readonly retryAfterMs: number | null;
}

const backoff = { firstMs: 500, longestMs: 8_000 };

/**
 * How long to wait before another attempt: full jitter under a doubling
 * ceiling of at most eight seconds, and never less than the service asked for.
 */
export function retryDelayMs(options: RetryDelayOptions): number {
  const { attempt, random, retryAfterMs } = options;
  const delayMs = Math.round(random * backoffMs(attempt, backoff));
  return Math.max(retryAfterMs ?? 0, delayMs);
}

/** Reads a `Retry-After` header, in seconds or as a date. */
export function readRetryAfterMs(
  header: string | null,
  nowMs: number,
): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Other texts would be read as dates too leniently: "-1" is a year to some.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/** How a wait grows with failures in a row. */
interface Backoff {
  /** Wait after the first failure, in ms; each further one doubles it. */
  readonly firstMs: number;
  /** The wait grows no longer than this, in ms. */
  readonly longestMs: number;
}

/** How long to wait after failures in a row. */
export function backoffMs(failures: number, backoff: Backoff): number {
  return Math.min(backoff.longestMs, backoff.firstMs * 2 ** (failures - 1));
}

/**
 * The waits before the five retries of a webhook, in milliseconds.
 *
 * Source: service interface, "Webhook delivery".
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * 60_000,
  3_600_000,
  2 * 3_600_000,
  4 * 3_600_000,
  8 * 3_600_000,
];

/** When attempts are made, where each wait counts from the first failure. */
export const ATTEMPTS_FROM_FIRST_MS: readonly number[] = [
  0,
  ...RETRY_DELAYS_MS,
];

/** When attempts are made, where each wait counts from the failure before. */
export const ATTEMPTS_FROM_PREVIOUS_MS: readonly number[] = [
  0,
  ...RETRY_DELAYS_MS.map((_, place) =>
    RETRY_DELAYS_MS.slice(0, place + 1).reduce((sum, delay) => sum + delay)
  ),
];

/** How long the service waits for the answer to a webhook, in milliseconds. */
export const SENDER_TIMEOUT_MS = 5000;

/**
 * Answers calls in groups: those that come while a group is worked on, and those
 * of one turn of the event loop, are worked on together by the next one.
 */
export function grouped<Item, Answer>(
  work: (items: readonly Item[]) => Promise<(item: Item) => Answer>,
): (item: Item) => Promise<Answer> {
  let waiting: {
    readonly item: Item;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  let isWorking = false;
  const workOff = async () => {
    isWorking = true;
    await Promise.resolve(); // Calls of this turn join the first.
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        const answerOf = await work(group.map(({ item }) => item));
        for (const { item, resolve } of group) resolve(answerOf(item));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isWorking = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWorking) void workOff();
    });
}
