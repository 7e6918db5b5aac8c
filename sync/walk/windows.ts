/** A range of creation time: its start is outside, its end is inside. */
export interface TimeWindow {
  /** Exclusive start, in milliseconds since the epoch, a whole second. */
  readonly startMs: number;
  /** Inclusive end, in milliseconds since the epoch, a whole second. */
  readonly endMs: number;
}

/** How far a walk through time has come. */
export interface WindowProgress {
  /** All up to here is read, in milliseconds since the epoch. */
  readonly doneUpToMs: number;
  /** How long the next window is to be, in milliseconds. */
  readonly spanMs: number;
}

/** What became of a window, as far as the next one depends on it. */
export type WindowItems =
  /** It was read to its end. */
  | { readonly kind: "walked"; readonly items: number }
  /** It holds too much for one walk; null where the service does not count. */
  | { readonly kind: "dense"; readonly items: number | null };

/**
 * Progress before the first window: the whole range is one window until the
 * service shows that it is dense.
 *
 * @param fromMs Exclusive start, in milliseconds since the epoch.
 * @param untilMs Inclusive end, in milliseconds since the epoch.
 */
export function wholeRange(fromMs: number, untilMs: number): WindowProgress {
  return { doneUpToMs: fromMs, spanMs: untilMs - fromMs };
}

/** Shortest window: the service filters by whole seconds. */
const SHORTEST_WINDOW_MS = 1000;

/** A longer window gains nothing. */
const longestWindowMs = 20 * 365 * 24 * 3_600_000;

/**
 * Cuts the next window off the range that is still unread.
 *
 * Windows touch: each starts where the one before ended, and as the start is
 * outside and the end inside, every instant lies in exactly one of them.
 *
 * @param progress How far the walk has come.
 * @param untilMs Where it ends, in milliseconds since the epoch.
 * @returns The window, or null when no whole second is left.
 *
 * @example Cut an hour off a day
 * ```ts ignore
 * nextWindow({ doneUpToMs: 0, spanMs: 3_600_000 }, 86_400_000);
 * ```
 */
export function nextWindow(
  progress: WindowProgress,
  untilMs: number,
): TimeWindow | null {
  const startMs = wholeSecond(progress.doneUpToMs);
  const lastMs = wholeSecond(untilMs);
  if (lastMs <= startMs) return null;
  const spanMs = Math.max(SHORTEST_WINDOW_MS, wholeSecond(progress.spanMs));
  return { startMs, endMs: Math.min(lastMs, startMs + spanMs) };
}

/**
 * Decides where the walk goes on after a window: behind it when it was read,
 * in a shorter window when it was dense. Windows get longer again where they
 * hold few items.
 *
 * @param progress Progress before the window.
 * @param window The window, from {@linkcode nextWindow}.
 * @param outcome What became of it.
 * @param wantedItems How many items a window should hold at most.
 *
 * @example A dense hour becomes half an hour
 * ```ts ignore
 * afterWindow(progress, window, { kind: "dense", items: null }, 200);
 * ```
 */
export function afterWindow(
  progress: WindowProgress,
  window: TimeWindow,
  outcome: WindowItems,
  wantedItems: number,
): WindowProgress {
  const lengthMs = window.endMs - window.startMs;
  if (outcome.kind === "walked") {
    const sparse = outcome.items * 4 < wantedItems;
    const spanMs = sparse
      ? Math.min(longestWindowMs, progress.spanMs * 2)
      : progress.spanMs;
    return { doneUpToMs: window.endMs, spanMs };
  }
  const share = outcome.items === null || outcome.items <= 0
    ? 0.5
    : Math.min(0.5, wantedItems / outcome.items);
  return {
    doneUpToMs: progress.doneUpToMs,
    spanMs: Math.max(SHORTEST_WINDOW_MS, wholeSecond(lengthMs * share)),
  };
}

/**
 * Whether a window should be cut. A single second cannot be: it is walked
 * whatever it holds.
 *
 * @param window The window.
 * @param items How many items it is known to hold at least.
 * @param wantedItems How many it should hold at most.
 *
 * @example A full second stays whole
 * ```ts ignore
 * isDense({ startMs: 0, endMs: 1000 }, 5000, 200); // false
 * ```
 */
export function isDense(
  window: TimeWindow,
  items: number,
  wantedItems: number,
): boolean {
  return items > wantedItems &&
    window.endMs - window.startMs > SHORTEST_WINDOW_MS;
}

/**
 * Writes a time as the filters of the Data API want it.
 *
 * @param timeMs Milliseconds since the epoch; the fraction of a second is cut.
 * @returns `YYYY-MM-DDTHH:MM:SSZ`.
 *
 * @example Write a filter
 * ```ts ignore
 * filterTime(0); // "1970-01-01T00:00:00Z"
 * ```
 */
export function filterTime(timeMs: number): string {
  return `${new Date(wholeSecond(timeMs)).toISOString().slice(0, 19)}Z`;
}

/** Cuts the fraction of a second. */
export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}
