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
  const limit = begin(limitMs, () => stop(late()));
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    leave(limit);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** A limit that runs. */
interface Limit {
  /** When it is over, on the clock of `performance.now`. */
  readonly endsAt: number;
  /** What happens then. */
  readonly end: () => void;
}

/** The timer of all limits. */
interface Sweep {
  readonly at: number;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** The longest time that a timer can run, in ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Turns of the microtask queue for which the timer outlives the last limit. */
const IDLE_TURNS = 20;

const limits = new Set<Limit>();
let sweep: Sweep | null = null;

/** Begins a limit. A timer for each would cost a call more than its checks. */
function begin(limitMs: number, end: () => void): Limit {
  const now = performance.now();
  const limit = { endsAt: now + limitMs, end };
  limits.add(limit);
  // A timer that is overdue may have been lost with the clock of a test.
  if (sweep === null || sweep.at > limit.endsAt || sweep.at < now) schedule();
  return limit;
}

/** Sets the timer to the limit that is over first. */
function schedule(): void {
  if (sweep !== null) clearTimeout(sweep.timer);
  const now = performance.now();
  let at = now + LONGEST_TIMER_MS;
  for (const { endsAt } of limits) at = Math.min(at, endsAt);
  const afterMs = Math.max(0, Math.ceil(at - now));
  sweep = { at, timer: setTimeout(() => endUntil(at), afterMs) };
}

/** Ends the limits that are over at a time. */
function endUntil(at: number): void {
  sweep = null;
  for (const limit of limits) {
    if (limit.endsAt > at) continue;
    limits.delete(limit);
    limit.end();
  }
  if (limits.size > 0) schedule();
}

function leave(limit: Limit): void {
  limits.delete(limit);
  if (limits.size === 0) void stopWhenIdle();
}

/** Stops the timer, unless work that follows at once takes it over. */
async function stopWhenIdle(): Promise<void> {
  for (let turn = 0; turn < IDLE_TURNS && limits.size === 0; turn++) await null;
  if (limits.size > 0 || sweep === null) return;
  clearTimeout(sweep.timer);
  sweep = null;
}
