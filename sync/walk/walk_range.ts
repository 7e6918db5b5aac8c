import type { Entity } from "../../ledger/for_sync.ts";
import {
  listCreated,
  type ListPage,
  type PollWalk,
  type Requester,
  type Steps,
  wholeSecond,
} from "./poll_client.ts";
import type { IncompleteReason } from "../../core/wire/completeness.ts";
import { readServiceTime } from "../../core/time/service_time.ts";
import type { Order } from "../../core/wire/order.ts";
import type { Page } from "../../core/wire/page.ts";
import type { User } from "../../core/wire/user.ts";
import { latestPlausible } from "../../core/time/plausible_time.ts";

/** A range of creation time to walk through, and how. */
interface RangeWalk {
  readonly entity: Entity;
  /** Where to begin or to continue: from {@linkcode wholeRange} or stored. */
  readonly from: WindowProgress;
  /** Inclusive end, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** Whether to walk in both directions, to prove that nothing is missing. */
  readonly prove: boolean;
  /** How often a window is walked before its proof is given up. @default {1} */
  readonly attempts?: number;
  /**
   * Called with the result of each window, for example to store the progress.
   */
  readonly onWindow?: (walked: WalkedWindow) => Promise<void> | void;
}

/** Result of a window, and where the walk continues. */
export interface WalkedWindow {
  readonly window: TimeWindow;
  readonly outcome: WindowOutcome;
  readonly progress: WindowProgress;
}

/**
 * Walks through a range of creation time in windows, which are cut where they
 * are dense, one request a step. Every sweep through the past, `recover()` and
 * `reconcile()` are this walk with other parameters.
 */
export async function* walkRange(
  context: WalkContext,
  range: RangeWalk,
): Steps {
  const { entity, untilMs, prove, attempts = 1, onWindow } = range;
  let progress = range.from;
  let attempt = 1;
  for (;;) {
    const window = nextWindow(progress, untilMs);
    if (window === null) return;
    const outcome = yield* walkWindow(context, entity, window, prove);
    const unproven = outcome.kind === "walked" && outcome.why !== null;
    if (unproven && attempt < attempts) {
      attempt += 1;
      continue;
    }
    attempt = 1;
    progress = afterWindow(progress, window, outcome, context.itemsPerWindow);
    await onWindow?.({ window, outcome, progress });
  }
}

/** What walks a window, and what is done with its pages. */
export interface WalkContext extends Requester {
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
  /** Younger than this the past may still change, in milliseconds. */
  readonly settleMs: number;
  /** Takes a page before the next one is requested. */
  readonly onPage: PageReader;
}

/** Takes a page, and when it was requested, in ms since the epoch. */
type PageReader = (
  page: ListPage,
  requestedAtMs: number,
) => Promise<unknown>;

type WindowOutcome =
  /** It has to be cut first; `items` is how many the service counts. */
  | { readonly kind: "dense"; readonly items: number | null }
  /** It was read to its end. */
  | {
    readonly kind: "walked";
    readonly items: number;
    /** Why it is not proven that these are all; null when it is. */
    readonly reason: IncompleteReason | null;
    /** The same in one sentence, as the client says it. */
    readonly why: string | null;
    /** Latest creation time, in milliseconds since the epoch. */
    readonly latestCreatedMs: number | null;
  };

const PROVEN = { reason: null, why: null };

/**
 * Reads every order or user created in a window, one request a step. It stops
 * when the window is dense, so that the window can be cut. Rows that were read
 * stay recorded.
 */
async function* walkWindow(
  context: WalkContext,
  entity: Entity,
  window: TimeWindow,
  prove: boolean,
): Steps<WindowOutcome> {
  const { itemsPerWindow, settleMs } = context;
  const { startMs, endMs } = window;
  const walk = listCreated(context, entity, startMs, {
    endMs,
    prove,
    settleMs,
  });
  let items = 0;
  let latestCreatedMs: number | null = null;
  for await (const page of readPages(context, walk, context.onPage)) {
    items += page.data.length;
    latestCreatedMs = later(
      latestCreatedMs,
      latestCreation(page, context.now()),
    );
    yield 1;
    if (
      items === page.data.length &&
      isDense(window, page.total ?? 0, itemsPerWindow)
    ) {
      return { kind: "dense", items: page.total };
    }
    // A proof takes each item twice; beyond that a wrong `total` hid the rest.
    if (isDense(window, items, itemsPerWindow * 4)) {
      return { kind: "dense", items: null };
    }
  }
  const { completeness } = walk;
  const { reason, why } = completeness.complete ? PROVEN : completeness;
  return { kind: "walked", items, reason, why, latestCreatedMs };
}

/** Gives the pages of a walk, each after `onPage` has taken it. */
export async function* readPages<Row extends Order | User>(
  clock: { readonly now: () => number },
  walk: PollWalk<Row>,
  onPage: PageReader,
): AsyncGenerator<Page<Row>> {
  let requestedAtMs = clock.now();
  for await (const page of walk.pages()) {
    await onPage(page, requestedAtMs);
    yield page;
    requestedAtMs = clock.now();
  }
}

/** Latest plausible creation time on a page, in ms; null when there is none. */
export function latestCreation(page: ListPage, nowMs: number): number | null {
  return latestPlausible(
    page.data.map(({ created_at }) => readServiceTime(created_at ?? "")),
    nowMs,
  );
}

/** The later of two times; null only where both are. */
export function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? a ?? b : Math.max(a, b);
}

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
type WindowItems =
  /** It was read to its end. */
  | { readonly kind: "walked"; readonly items: number }
  /** It holds too much for one walk; null where the service does not count. */
  | { readonly kind: "dense"; readonly items: number | null };

/**
 * Progress before the first window: the whole range is one window until the
 * service shows that it is dense.
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
 */
export function isDense(
  window: TimeWindow,
  items: number,
  wantedItems: number,
): boolean {
  return items > wantedItems &&
    window.endMs - window.startMs > SHORTEST_WINDOW_MS;
}
