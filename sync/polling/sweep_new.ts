import { type Entity, readSweep } from "../../ledger/for_sync.ts";
import { plausibleNowMs } from "../../core/time/plausible_time.ts";
import { recordingWalk } from "../recording/recorder.ts";
import {
  allSteps,
  listCreated,
  type ListPage,
  requestOldest,
  type Steps,
  wholeSecond,
} from "../walk/poll_client.ts";
import {
  later,
  latestCreation,
  readPages,
  walkRange,
  wholeRange,
  type WindowProgress,
} from "../walk/walk_range.ts";
import { saveProgress, type SweepContext } from "./sweep_context.ts";

/** Orders of one second may be on two pages: one second, in milliseconds. */
const sameSecondMs = 1000;

/** How often a window is walked before its proof is given up. */
const proofAttempts = 3;

/** Progress of the sweep for what is new: plain JSON. */
export interface NewProgress {
  /** When the whole past had been walked; null before. */
  readonly finishedAt: string | null;
  /** Where the past begins, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** Where it ended when the walk began, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** How far the walk through it has come. */
  readonly walk: WindowProgress;
  readonly gaps: readonly Gap[];
  /** Latest creation time the service has shown, by its own clock. */
  readonly latestMs: number | null;
}

/** Name under which progress is kept. */
export function newSweepName(entity: Entity): string {
  return `new:${entity}`;
}

/**
 * Reads what is new. From nothing it walks the whole past first, from the
 * oldest order or user on, in windows and with proof; then, each time, from the
 * latest creation time the service has shown, less an overlap.
 */
export async function* sweepNew(
  context: SweepContext,
  entity: Entity,
): Steps {
  const stored = await readProgress(context, entity);
  const begun = stored ?? (yield* begin(context, entity));
  // A window of the past that always fails must not stop reading new orders.
  yield* allSteps([
    begun.finishedAt === null
      ? walkPast(context, entity, begun)
      : closeGaps(context, entity, begun),
    follow(context, entity),
  ]);
}

/** Finds out where the past begins and ends. */
async function* begin(
  context: SweepContext,
  entity: Entity,
): Steps<NewProgress> {
  const past = await requestOldest(context, entity);
  yield 1;
  const nowMs = plausibleNowMs(past.readAt, context.now());
  const untilMs = wholeSecond(nowMs - context.settleMs);
  const fromMs = past.beginsMs(untilMs);
  const progress: NewProgress = {
    finishedAt: null,
    fromMs,
    untilMs,
    walk: wholeRange(fromMs, untilMs),
    gaps: [],
    latestMs: null,
  };
  await saveProgress(context, newSweepName(entity), progress);
  return progress;
}

/** Walks what is left of the past, with proof. */
async function* walkPast(
  context: SweepContext,
  entity: Entity,
  begun: NewProgress,
): Steps {
  let progress = begun;
  yield* walkRange(recordingWalk(context, entity), {
    entity,
    from: begun.walk,
    untilMs: begun.untilMs,
    prove: true,
    attempts: proofAttempts,
    onWindow: async ({ window, outcome, progress: walk }) => {
      progress = { ...progress, walk };
      if (outcome.kind === "walked") {
        const { why, latestCreatedMs } = outcome;
        const gap = why === null
          ? []
          : [{ fromMs: window.startMs, untilMs: window.endMs, why }];
        progress = {
          ...progress,
          gaps: limitGaps([...progress.gaps, ...gap]),
          latestMs: later(progress.latestMs, latestCreatedMs),
        };
      }
      await saveProgress(context, newSweepName(entity), progress);
    },
  });
  const finishedAt = new Date(context.now()).toISOString();
  await saveProgress(context, newSweepName(entity), {
    ...progress,
    finishedAt,
  });
}

/** Tries once more to prove what could not be proven before. */
async function* closeGaps(
  context: SweepContext,
  entity: Entity,
  begun: NewProgress,
): Steps {
  if (begun.gaps.length === 0) return;
  const left: Gap[] = [];
  for (const { fromMs, untilMs } of begun.gaps) {
    yield* walkRange(recordingWalk(context, entity), {
      entity,
      from: wholeRange(fromMs, untilMs),
      untilMs,
      prove: true,
      onWindow: ({ window, outcome }) => {
        if (outcome.kind === "dense" || outcome.why === null) return;
        const { startMs, endMs } = window;
        left.push({ fromMs: startMs, untilMs: endMs, why: outcome.why });
      },
    });
  }
  await saveProgress(context, newSweepName(entity), {
    ...begun,
    gaps: limitGaps(left),
  });
}

/** Reads from the latest creation time on, to the end. */
async function* follow(context: SweepContext, entity: Entity): Steps {
  const begun = await readProgress(context, entity);
  if (begun === null) return;
  // Orders created from now on are read, even if a stored time is wrong.
  const latest = Math.min(begun.latestMs ?? begun.untilMs, context.now());
  const { onPage } = recordingWalk(context, entity);
  let latestMs = begun.latestMs;
  let fromMs = latest - context.overlapMs;
  for (;;) {
    const walk = listCreated(context, entity, fromMs);
    let shownMs = fromMs;
    for await (const page of readPages(context, walk, onPage)) {
      latestMs = later(latestMs, latestCreation(page, context.now()));
      shownMs = Math.max(shownMs, latestShown(page, context.now()) ?? 0);
      yield 1;
    }
    // Where cursors lead nowhere, creation times do: each walk goes further.
    const goesOnMs = shownMs - sameSecondMs;
    if (walk.completeness.exhausted || goesOnMs <= fromMs) break;
    fromMs = goesOnMs;
  }
  if (latestMs !== begun.latestMs) {
    await saveProgress(context, newSweepName(entity), { ...begun, latestMs });
  }
}

/**
 * The latest creation on a page. By the service's clock where that is ahead:
 * ours may have been set back.
 */
function latestShown(page: ListPage, nowMs: number): number | null {
  return latestCreation(page, Math.max(nowMs, Date.parse(page.readAt)));
}

function readProgress(
  context: SweepContext,
  entity: Entity,
): Promise<NewProgress | null> {
  return readSweep<NewProgress>(context.driver, newSweepName(entity));
}

/** Gaps kept one by one; beyond that they are merged. */
const gapsKept = 50;

/** A range of the past that was read without proof. */
interface Gap {
  /** Exclusive start, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** Inclusive end, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** Why there is no proof, in one sentence. */
  readonly why: string;
}

/** Merges the last gaps into one when there are too many to list. */
function limitGaps(gaps: readonly Gap[]): Gap[] {
  if (gaps.length <= gapsKept) return [...gaps];
  const head = gaps.slice(0, gapsKept - 1);
  const tail = gaps.slice(gapsKept - 1);
  return [...head, {
    fromMs: Math.min(...tail.map((gap) => gap.fromMs)),
    untilMs: Math.max(...tail.map((gap) => gap.untilMs)),
    why: tail[0]?.why ?? "",
  }];
}
