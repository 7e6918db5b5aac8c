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
