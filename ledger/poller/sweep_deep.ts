import { readServiceTime } from "../../client/service_time.ts";
import type { Entity } from "./observations.ts";
import { callOptions, type Sweep, type SweepContext } from "./sweep.ts";
import { readSweep, writeSweep } from "./sweep_store.ts";
import { walkWindow } from "./walk_window.ts";
import {
  afterWindow,
  nextWindow,
  wholeSecond,
  type WindowProgress,
} from "./windows.ts";

/** Name under which progress is kept. */
export const DEEP_SWEEP = "deep";

/** Progress of the sweep through the whole past: plain JSON. */
export interface DeepProgress {
  /** Cycles finished. */
  readonly cycles: number;
  /** When the current cycle began, UTC ISO 8601; null between two. */
  readonly startedAt: string | null;
  /** When the last cycle ended, UTC ISO 8601; null before the first. */
  readonly finishedAt: string | null;
  /** How long the last cycle took, in milliseconds; null before the first. */
  readonly lastCycleMs: number | null;
  /** What is being walked. */
  readonly part: Entity;
  /** The walk through it; null before its first request. */
  readonly walk: (WindowProgress & { readonly untilMs: number }) | null;
}

const beforeFirst: DeepProgress = {
  cycles: 0,
  startedAt: null,
  finishedAt: null,
  lastCycleMs: null,
  part: "order",
  walk: null,
};

/**
 * Reads the whole past once, orders and then users, so that even a change of
 * an old final order whose webhook was lost is found. A cycle that was broken
 * off goes on where it was.
 *
 * @param context What to work with.
 *
 * @example Run one cycle to its end
 * ```ts ignore
 * for await (const requests of sweepDeep(context)) count += requests;
 * ```
 */
export async function* sweepDeep(context: SweepContext): Sweep {
  let progress = await readSweep<DeepProgress>(context.driver, DEEP_SWEEP) ??
    beforeFirst;
  if (progress.startedAt === null) {
    const startedAt = new Date(context.now()).toISOString();
    progress = { ...progress, startedAt, part: "order", walk: null };
  }
  if (progress.part === "order") {
    progress = yield* walkPart(context, progress);
    progress = { ...progress, part: "user", walk: null };
    await save(context, progress);
  }
  progress = yield* walkPart(context, progress);
  const nowMs = context.now();
  await save(context, {
    cycles: progress.cycles + 1,
    startedAt: null,
    finishedAt: new Date(nowMs).toISOString(),
    lastCycleMs: nowMs - Date.parse(progress.startedAt ?? ""),
    part: "order",
    walk: null,
  });
}

async function* walkPart(
  context: SweepContext,
  begun: DeepProgress,
): Sweep<DeepProgress> {
  const { part } = begun;
  let walk = begun.walk ?? (yield* begin(context, part));
  for (;;) {
    const window = nextWindow(walk, walk.untilMs);
    if (window === null) return { ...begun, walk };
    const result = yield* walkWindow(context, part, window, false);
    walk = {
      ...afterWindow(walk, window, result, context.itemsPerWindow),
      untilMs: walk.untilMs,
    };
    await save(context, { ...begun, walk });
  }
}

async function* begin(
  context: SweepContext,
  part: Entity,
): Sweep<NonNullable<DeepProgress["walk"]>> {
  const query = { order_by: "asc", limit: 1 } as const;
  const page = part === "order"
    ? await context.client.orders.page(query, callOptions(context))
    : await context.client.users.page(query, callOptions(context));
  yield 1;
  // Up to now: what is created later belongs to the sweep for what is new.
  const untilMs = wholeSecond(Date.parse(page.readAt)) + 1000;
  const [oldest] = page.data;
  const oldestMs = oldest === undefined
    ? untilMs
    : readServiceTime(oldest.created_at ?? "") ?? 0;
  const fromMs = Math.min(untilMs, wholeSecond(oldestMs) - 1000);
  return { doneUpToMs: fromMs, spanMs: untilMs - fromMs, untilMs };
}

async function save(
  context: SweepContext,
  progress: DeepProgress,
): Promise<void> {
  await context.recorder.write([
    writeSweep(DEEP_SWEEP, progress, context.now()),
  ]);
}
