import type { Completeness } from "../../client/page.ts";
import { readServiceTime } from "../../client/service_time.ts";
import type { Entity } from "./observations.ts";
import {
  callOptions,
  latestCreation,
  recordOrders,
  recordUsers,
  type Sweep,
  type SweepContext,
} from "./sweep.ts";
import { readSweep, writeSweep } from "./sweep_store.ts";
import { recordedWalk, walkWindow } from "./walk_window.ts";
import {
  afterWindow,
  filterTime,
  nextWindow,
  wholeSecond,
  type WindowProgress,
} from "./windows.ts";

/** How often a window is walked again before its proof is given up. */
const proofAttempts = 3;

/** Gaps kept one by one; beyond that they are merged. */
const gapsKept = 50;

/** A stretch of the past that was read, but not with proof. */
export interface Gap {
  /** Exclusive start, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** Inclusive end, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** Why there is no proof, in one sentence. */
  readonly why: string;
}

/** Progress of the sweep for what is new: plain JSON. */
export interface NewProgress {
  /** When it began, by our clock, UTC ISO 8601. */
  readonly startedAt: string;
  /** When the whole past had been walked; null before. */
  readonly finishedAt: string | null;
  /** Where the past begins, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** Where it ended when the walk began, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** How far the walk through it has come. */
  readonly walk: WindowProgress;
  /** Items read on the way, repeats included. */
  readonly items: number;
  /** What was walked without proof. */
  readonly gaps: readonly Gap[];
  /** Latest creation time the service has shown, by its own clock. */
  readonly latestMs: number | null;
  /** Items of the last look for new ones, overlap included. */
  readonly followed: number;
}

/** Name under which progress is kept. */
export function newSweepName(entity: Entity): string {
  return `new:${entity}`;
}

/**
 * Reads what is new. From nothing it walks the whole past first, from the
 * oldest order or user on, in windows and with proof; then, each time, from the
 * latest creation time the service has shown, less an overlap.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 *
 * @example Run it to its end
 * ```ts ignore
 * for await (const requests of sweepNew(context, "order")) count += requests;
 * ```
 */
export async function* sweepNew(
  context: SweepContext,
  entity: Entity,
): Sweep {
  const stored = await readSweep<NewProgress>(
    context.driver,
    newSweepName(entity),
  );
  let progress = stored ?? (yield* begin(context, entity));
  if (progress.finishedAt === null) {
    progress = yield* walkPast(context, entity, progress);
  } else if (progress.gaps.length > 0) {
    progress = yield* closeGaps(context, entity, progress);
  }
  yield* follow(context, entity, progress);
}

/** Finds out where the past begins and ends. */
async function* begin(
  context: SweepContext,
  entity: Entity,
): Sweep<NewProgress> {
  const query = { order_by: "asc", limit: 1 } as const;
  const page = entity === "order"
    ? await context.client.orders.page(query, callOptions(context))
    : await context.client.users.page(query, callOptions(context));
  yield 1;
  const nowMs = Date.parse(page.readAt);
  const untilMs = wholeSecond(nowMs - context.settleMs);
  const [oldest] = page.data;
  // The start of a window is outside, so the oldest needs a second before it.
  const fromMs = oldest === undefined ? untilMs : Math.min(
    untilMs,
    wholeSecond(readServiceTime(oldest.created_at ?? "") ?? 0) - 1000,
  );
  const progress: NewProgress = {
    startedAt: new Date(context.now()).toISOString(),
    finishedAt: null,
    fromMs,
    untilMs,
    walk: { doneUpToMs: fromMs, spanMs: untilMs - fromMs },
    items: 0,
    gaps: [],
    latestMs: null,
    followed: 0,
  };
  await save(context, entity, progress);
  return progress;
}

async function* walkPast(
  context: SweepContext,
  entity: Entity,
  begun: NewProgress,
): Sweep<NewProgress> {
  let progress = begun;
  let attempt = 1;
  for (;;) {
    const window = nextWindow(progress.walk, progress.untilMs);
    if (window === null) break;
    const result = yield* walkWindow(context, entity, window, true);
    if (result.kind === "walked") {
      const why = whyIncomplete(result.completeness);
      if (why !== null && attempt < proofAttempts) {
        attempt += 1;
        continue;
      }
      attempt = 1;
      const gap: Gap[] = why === null
        ? []
        : [{ fromMs: window.startMs, untilMs: window.endMs, why }];
      progress = {
        ...progress,
        items: progress.items + result.items,
        gaps: keep([...progress.gaps, ...gap]),
        latestMs: later(progress.latestMs, result.latestCreatedMs),
      };
    }
    const wanted = context.itemsPerWindow;
    progress = {
      ...progress,
      walk: afterWindow(progress.walk, window, result, wanted),
    };
    await save(context, entity, progress);
  }
  progress = {
    ...progress,
    finishedAt: new Date(context.now()).toISOString(),
  };
  await save(context, entity, progress);
  return progress;
}

/** Tries once more to prove what could not be proven before. */
async function* closeGaps(
  context: SweepContext,
  entity: Entity,
  begun: NewProgress,
): Sweep<NewProgress> {
  const left: Gap[] = [];
  for (const gap of begun.gaps) {
    let walk: WindowProgress = {
      doneUpToMs: gap.fromMs,
      spanMs: gap.untilMs - gap.fromMs,
    };
    for (;;) {
      const window = nextWindow(walk, gap.untilMs);
      if (window === null) break;
      const result = yield* walkWindow(context, entity, window, true);
      walk = afterWindow(walk, window, result, context.itemsPerWindow);
      if (result.kind === "dense") continue;
      const why = whyIncomplete(result.completeness);
      if (why === null) continue;
      left.push({ fromMs: window.startMs, untilMs: window.endMs, why });
    }
  }
  const progress = { ...begun, gaps: keep(left) };
  await save(context, entity, progress);
  return progress;
}

/** Reads from the latest creation time on, to the end. */
async function* follow(
  context: SweepContext,
  entity: Entity,
  begun: NewProgress,
): Sweep {
  const startMs = (begun.latestMs ?? begun.untilMs) - context.overlapMs;
  const start = filterTime(startMs);
  const walk = entity === "order"
    ? recordedWalk(
      context,
      context.client.orders.list(
        { start_date: start, order_by: "asc", limit: 20 },
        callOptions(context),
      ),
      recordOrders,
    )
    : recordedWalk(
      context,
      context.client.users.list(
        { from: start, limit: 20 },
        callOptions(context),
      ),
      recordUsers,
    );
  let latestMs = begun.latestMs;
  let followed = 0;
  for await (const page of walk.pages) {
    latestMs = later(latestMs, latestCreation(page.data));
    followed += page.data.length;
    yield 1;
  }
  if (latestMs !== begun.latestMs || followed !== begun.followed) {
    await save(context, entity, { ...begun, latestMs, followed });
  }
}

async function save(
  context: SweepContext,
  entity: Entity,
  progress: NewProgress,
): Promise<void> {
  await context.recorder.write([
    writeSweep(newSweepName(entity), progress, context.now()),
  ]);
}

/** Why there is no proof; null when there is. */
export function whyIncomplete(completeness: Completeness): string | null {
  return completeness.complete ? null : completeness.why;
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

/** Merges the last gaps into one when there are too many to list. */
function keep(gaps: readonly Gap[]): Gap[] {
  if (gaps.length <= gapsKept) return [...gaps];
  const head = gaps.slice(0, gapsKept - 1);
  const tail = gaps.slice(gapsKept - 1);
  return [...head, {
    fromMs: Math.min(...tail.map((gap) => gap.fromMs)),
    untilMs: Math.max(...tail.map((gap) => gap.untilMs)),
    why: tail[0]?.why ?? "",
  }];
}
