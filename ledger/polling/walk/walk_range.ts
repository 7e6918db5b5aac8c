import type { Entity } from "../../entity.ts";
import type { Steps } from "./steps.ts";
import {
  type WalkContext,
  walkWindow,
  type WindowOutcome,
} from "./walk_window.ts";
import {
  afterWindow,
  nextWindow,
  type TimeWindow,
  type WindowProgress,
} from "./windows.ts";

/** A range of creation time to walk through, and how. */
export interface RangeWalk {
  /** Orders or users. */
  readonly entity: Entity;
  /** Where to begin or to go on: from {@linkcode wholeRange} or stored. */
  readonly from: WindowProgress;
  /** Inclusive end, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** Whether to walk in both directions, to prove that nothing is missing. */
  readonly prove: boolean;
  /** How often a window is walked before its proof is given up. @default {1} */
  readonly attempts?: number;
  /** Takes what became of each window, for example to store the progress. */
  readonly onWindow?: (walked: WalkedWindow) => Promise<void> | void;
}

/** What became of a window, and where the walk goes on. */
export interface WalkedWindow {
  /** The window. */
  readonly window: TimeWindow;
  /** What became of it. */
  readonly outcome: WindowOutcome;
  /** Where the walk goes on. */
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
