import {
  type Driver,
  type Entity,
  readSweep,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { plausibleNowMs } from "../../core/time/service_time.ts";
import { recordingWalk } from "../recording/recorder.ts";
import {
  allSteps,
  later,
  latestCreation,
  listCreated,
  PROOF_ATTEMPTS,
  readPages,
  requestOldest,
  type Steps,
  type WalkedWindow,
  walkRange,
  wholeRange,
  wholeSecond,
  type WindowProgress,
} from "../walk/walk.ts";
import type { SweepContext } from "./sweeps.ts";

/** Orders of one second may be on two pages: one second, in milliseconds. */
const SAME_SECOND_MS = 1000;

/** Progress of the sweep for what is new: plain JSON. */
export interface NewProgress {
  readonly finishedAt: string | null;
  readonly fromMs: number;
  /** Where it ended when the walk began, in milliseconds since the epoch. */
  readonly untilMs: number;
  readonly walk: WindowProgress;
  readonly gaps: readonly Gap[];
  /** Latest creation time the service has shown, by its own clock. */
  readonly latestMs: number | null;
}

/** A range of the past that was read without proof; its start is outside it. */
interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly why: string;
}

interface DeepProgress {
  readonly cycles: number;
  /** When the current cycle began, UTC ISO 8601; null between two. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly lastCycleMs: number | null;
  readonly walk: (WindowProgress & { readonly untilMs: number }) | null;
}

export function readNewProgress(
  driver: Driver,
  entity: Entity,
): Promise<NewProgress | null> {
  return readSweep<NewProgress>(driver, `new:${entity}`);
}

/** Reads how far the sweep through the past has come. */
export async function readDeepProgress(
  driver: Driver,
  entity: Entity,
): Promise<DeepProgress> {
  return await readSweep<DeepProgress>(driver, `deep:${entity}`) ?? {
    cycles: 0,
    startedAt: null,
    finishedAt: null,
    lastCycleMs: null,
    walk: null,
  };
}

async function* findPast(
  context: SweepContext,
  entity: Entity,
  endsAfterNowMs: number,
): Steps<
  WindowProgress & { readonly fromMs: number; readonly untilMs: number }
> {
  const past = await requestOldest(context, entity);
  yield 1;
  const nowMs = plausibleNowMs(past.readAt, context.now());
  const untilMs = wholeSecond(nowMs + endsAfterNowMs);
  const fromMs = past.beginsMs(untilMs);
  return { fromMs, untilMs, ...wholeRange(fromMs, untilMs) };
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
  const { driver, recorder, now, overlapMs, settleMs } = context;
  const recording = recordingWalk(context, entity);
  const stored = await readNewProgress(driver, entity);
  let progress: NewProgress = stored ?? (yield* begin());
  if (stored === null) await save(progress);
  // A window of the past that always fails must not stop reading new orders.
  yield* allSteps([
    progress.finishedAt === null ? walkPast() : closeGaps(),
    follow(),
  ]);

  async function save(changed: NewProgress): Promise<void> {
    await recorder.write([writeSweep(`new:${entity}`, changed, now())]);
    progress = changed;
  }

  async function* begin(): Steps<NewProgress> {
    const past = yield* findPast(context, entity, -settleMs);
    const { fromMs, untilMs, ...walk } = past;
    const nothing = { finishedAt: null, gaps: [], latestMs: null };
    return { ...nothing, fromMs, untilMs, walk };
  }

  async function* walkPast(): Steps {
    yield* walkRange(recording, {
      from: progress.walk,
      untilMs: progress.untilMs,
      prove: true,
      attempts: PROOF_ATTEMPTS,
      onWindow: (walked) =>
        save({
          ...progress,
          walk: walked.progress,
          gaps: withGap(progress.gaps, walked),
          latestMs: later(progress.latestMs, walked.latestCreatedMs),
        }),
    });
    await save({ ...progress, finishedAt: new Date(now()).toISOString() });
  }

  /** Tries once more to prove what could not be proven before. */
  async function* closeGaps(): Steps {
    if (progress.gaps.length === 0) return;
    let gaps: readonly Gap[] = [];
    for (const { fromMs, untilMs } of progress.gaps) {
      yield* walkRange(recording, {
        from: wholeRange(fromMs, untilMs),
        untilMs,
        prove: true,
        onWindow: (walked) => void (gaps = withGap(gaps, walked)),
      });
    }
    await save({ ...progress, gaps });
  }

  /** Reads from the latest creation time on, to the end. */
  async function* follow(): Steps {
    let { latestMs } = progress;
    // Orders created from now on are read, even if a stored time is wrong.
    let fromMs = Math.min(latestMs ?? progress.untilMs, now()) - overlapMs;
    for (;;) {
      const walk = listCreated(context, entity, fromMs);
      let shownMs = fromMs;
      for await (const page of readPages(context, walk, recording.onPage)) {
        latestMs = later(latestMs, latestCreation(page, now()));
        // By the service's clock where that is ahead: ours may have been set back.
        const serviceMs = Math.max(now(), Date.parse(page.readAt));
        shownMs = Math.max(shownMs, latestCreation(page, serviceMs) ?? 0);
        yield 1;
      }
      // Where cursors lead nowhere, creation times do: each walk goes further.
      const goesOnMs = shownMs - SAME_SECOND_MS;
      if (walk.completeness.exhausted || goesOnMs <= fromMs) break;
      fromMs = goesOnMs;
    }
    if (latestMs !== progress.latestMs) await save({ ...progress, latestMs });
  }
}

/** Gaps kept one by one; beyond that the last one grows. */
const GAPS_KEPT = 50;

/** The gaps, and the window if that was not proven; it is later than they are. */
function withGap(
  gaps: readonly Gap[],
  { window, unproven }: WalkedWindow,
): readonly Gap[] {
  const { startMs: fromMs, endMs: untilMs } = window;
  const last = gaps[GAPS_KEPT - 1];
  if (unproven === null) return gaps;
  return last === undefined
    ? [...gaps, { fromMs, untilMs, why: unproven.why }]
    : [...gaps.slice(0, -1), { ...last, untilMs }];
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
  const { driver, recorder, now } = context;
  const save = (changed: DeepProgress) =>
    recorder.write([writeSweep(`deep:${entity}`, changed, now())]);
  let progress = await readDeepProgress(driver, entity);
  if (progress.startedAt === null) {
    const restedMs = now() - Date.parse(progress.finishedAt ?? "");
    if (restedMs >= 0 && restedMs < pauseMs) return;
    const startedAt = new Date(now()).toISOString();
    progress = { ...progress, startedAt, walk: null };
  }
  // Up to now: the sweep for new orders reads those created later.
  const { untilMs, ...from } = progress.walk ??
    (yield* findPast(context, entity, 1000));
  yield* walkRange(recordingWalk(context, entity), {
    from,
    untilMs,
    prove: false,
    onWindow: ({ progress: walk }) =>
      save({ ...progress, walk: { ...walk, untilMs } }),
  });
  const nowMs = now();
  await save({
    cycles: progress.cycles + 1,
    startedAt: null,
    finishedAt: new Date(nowMs).toISOString(),
    // Zero where our clock was set back meanwhile.
    lastCycleMs: Math.max(0, nowMs - Date.parse(progress.startedAt ?? "")),
    walk: null,
  });
}
