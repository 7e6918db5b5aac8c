import type { Entity } from "../../ledger/for_sync.ts";
import type { Steps } from "./steps.ts";
import {
  afterWindow,
  isDense,
  nextWindow,
  type TimeWindow,
  type WindowProgress,
} from "./windows.ts";
import type { IncompleteReason } from "../../core/wire/completeness.ts";
import { readServiceTime } from "../../core/time/service_time.ts";
import type { Order } from "../../core/wire/order.ts";
import type { Page } from "../../core/wire/page.ts";
import type { User } from "../../core/wire/user.ts";
import { latestPlausible } from "../../core/time/plausible_time.ts";
import type { PollWalk } from "./poll_client.ts";
import { listCreated, type ListPage, type Requester } from "./service_lists.ts";

/** A range of creation time to walk through, and how. */
export interface RangeWalk {
  /** Orders or users. */
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
  /** The window. */
  readonly window: TimeWindow;
  /** Its result. */
  readonly outcome: WindowOutcome;
  /** Where the walk continues. */
  readonly progress: WindowProgress;
}

/**
 * Walks through a range of creation time in windows, which are cut where they
 * are dense, one request a step. Every sweep through the past, `recover()` and
 * `reconcile()` are this walk with other parameters.
 *
 * @param context What to work with.
 * @param range The range, and how to walk through it.
 *
 * @example Walk through a day with proof
 * ```ts ignore
 * yield* walkRange(context, { entity: "order", from: wholeRange(startMs, endMs), untilMs: endMs, prove: true });
 * ```
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
export type PageReader = (
  page: ListPage,
  requestedAtMs: number,
) => Promise<unknown>;

/** Result of a window. */
export type WindowOutcome =
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
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param window The window.
 * @param prove Whether to have the client prove that this is all.
 *
 * @example Walk an hour
 * ```ts ignore
 * const outcome = yield* walkWindow(context, "order", { startMs, endMs }, true);
 * ```
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

/**
 * Gives the pages of a walk, each after `onPage` has taken it.
 *
 * @param clock Tells when a page is requested.
 * @param walk The walk.
 * @param onPage Takes each page.
 */
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
