import { type Driver, type Entity, readSweep } from "../../ledger/for_sync.ts";
import { plausibleNowMs } from "../../core/time/plausible_time.ts";
import { recordingWalk } from "../recording/recorder.ts";
import { requestOldest, type Steps, wholeSecond } from "../walk/poll_client.ts";
import {
  walkRange,
  wholeRange,
  type WindowProgress,
} from "../walk/walk_range.ts";
import { saveProgress, type SweepContext } from "./sweep_context.ts";

/** Progress of the sweep through the whole past: plain JSON. */
export interface DeepProgress {
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

/** Name under which progress is kept. */
function deepSweepName(entity: Entity): string {
  return `deep:${entity}`;
}

/** Reads how far the sweep through the past has come. */
export async function readDeepProgress(
  driver: Driver,
  entity: Entity,
): Promise<DeepProgress> {
  return await readSweep<DeepProgress>(driver, deepSweepName(entity)) ??
    beforeFirst;
}

/**
 * Reads the whole past of orders or users once, so that even a change of an old
 * final order whose webhook was lost is found. An interrupted cycle continues
 * where it stopped.
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
      saveProgress(context, deepSweepName(entity), {
        ...progress,
        walk: { ...walk, untilMs },
      }),
  });
  const nowMs = context.now();
  await saveProgress(context, deepSweepName(entity), {
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
