import {
  type Driver,
  type Entity,
  readSweep,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { plausibleNowMs } from "../../core/time/plausible_time.ts";
import { recordingWalk } from "../recording/record_page.ts";
import { requestOldest } from "../walk/service_lists.ts";
import type { Steps } from "../walk/steps.ts";
import { walkRange } from "../walk/walk_range.ts";
import {
  wholeRange,
  wholeSecond,
  type WindowProgress,
} from "../walk/windows.ts";
import type { SweepContext } from "./sweep_context.ts";

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
  /** The walk of the current cycle; null before its first request. */
  readonly walk: (WindowProgress & { readonly untilMs: number }) | null;
}

const beforeFirst: DeepProgress = {
  cycles: 0,
  startedAt: null,
  finishedAt: null,
  lastCycleMs: null,
  walk: null,
};

/** Name under which progress of orders and users was kept together. */
const earlierName = "deep";

/** Name under which progress is kept. */
function deepSweepName(entity: Entity): string {
  return `deep:${entity}`;
}

/**
 * Reads how far the sweep through the past has come.
 *
 * @param driver The ledger's database.
 * @param entity Orders or users.
 */
export async function readDeepProgress(
  driver: Driver,
  entity: Entity,
): Promise<DeepProgress> {
  const own = await readSweep<DeepProgress>(driver, deepSweepName(entity));
  if (own !== null) return own;
  const earlier = await readSweep<DeepProgress & { readonly part: Entity }>(
    driver,
    earlierName,
  );
  if (earlier === null) return beforeFirst;
  const { part, ...progress } = earlier;
  // It counted the time of both: the orders keep it.
  const lastCycleMs = entity === "order" ? progress.lastCycleMs : 0;
  const broken = part === entity ? {} : { startedAt: null, walk: null };
  return { ...progress, lastCycleMs, ...broken };
}

/**
 * Reads the whole past of orders or users once, so that even a change of an old
 * final order whose webhook was lost is found. An interrupted cycle continues
 * where it stopped.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param pauseMs Shortest pause after a cycle, in milliseconds: while the
 * other list fails, this one is not read again and again. @default {0}
 *
 * @example Run one cycle to its end
 * ```ts ignore
 * for await (const requests of sweepDeep(context, "order")) count += requests;
 * ```
 */
export async function* sweepDeep(
  context: SweepContext,
  entity: Entity,
  pauseMs = 0,
): Steps {
  let progress = await readDeepProgress(context.driver, entity);
  if (progress.startedAt === null) {
    const { finishedAt } = progress;
    const restedMs = context.now() - Date.parse(finishedAt ?? "");
    if (restedMs >= 0 && restedMs < pauseMs) return;
    const startedAt = new Date(context.now()).toISOString();
    progress = { ...progress, startedAt, walk: null };
  }
  const { untilMs, ...from } = progress.walk ??
    (yield* begin(context, entity));
  yield* walkRange(recordingWalk(context, entity), {
    entity,
    from,
    untilMs,
    prove: false,
    onWindow: ({ progress: walk }) =>
      save(context, entity, { ...progress, walk: { ...walk, untilMs } }),
  });
  const nowMs = context.now();
  await save(context, entity, {
    cycles: progress.cycles + 1,
    startedAt: null,
    finishedAt: new Date(nowMs).toISOString(),
    // Zero where our clock was set back meanwhile.
    lastCycleMs: Math.max(0, nowMs - Date.parse(progress.startedAt ?? "")),
    walk: null,
  });
}

async function* begin(
  context: SweepContext,
  entity: Entity,
): Steps<NonNullable<DeepProgress["walk"]>> {
  const past = await requestOldest(context, entity);
  yield 1;
  // Up to now: the sweep for new orders reads those created later.
  const nowMs = plausibleNowMs(past.readAt, context.now());
  const untilMs = wholeSecond(nowMs) + 1000;
  return { ...wholeRange(past.beginsMs(untilMs), untilMs), untilMs };
}

async function save(
  context: SweepContext,
  entity: Entity,
  progress: DeepProgress,
): Promise<void> {
  await context.recorder.write([
    writeSweep(deepSweepName(entity), progress, context.now()),
  ]);
}
