/** Folds whatever waits, step by step; a ledger of an older fold is folded anew first. */
import type { CatchUpOptions, Projection } from "../../ledger_parts.ts";
import type { Driver } from "../../store/driver/driver.ts";
import { read } from "../store/database.ts";
import { guardOf, selectGuard } from "./guard.ts";
import { FOLD, type Projected, type ProjectOptions } from "./project.ts";
import { refold } from "./refold.ts";

/** Makes one step, here or in the thread that owns the file. */
export type MakeStep = (mostEvents: number) => Promise<Projected>;

export interface CatchUpParts extends ProjectOptions {
  readonly driver: Driver;
  readonly step: MakeStep;
}

/** Folds until nothing waits. */
export async function catchUp(
  parts: CatchUpParts,
  { signal, pace, onProgress }: CatchUpOptions,
  onStep: (step: Projected) => void,
): Promise<Omit<Projection, "chain">> {
  const { driver, assets, fold = FOLD, maxEvents = 1000 } = parts;
  let events = 0;
  for (;;) {
    const mostEvents = Math.min(await pace?.() ?? Infinity, maxEvents);
    signal?.throwIfAborted();
    const step = await parts.step(mostEvents);
    if (step.events > 0) {
      onStep(step);
      events += step.events;
      onProgress?.({ position: step.position, events });
      continue;
    }
    const [guarding] = await read(driver, [selectGuard]);
    const { foldVersion, position } = guardOf(guarding);
    if (foldVersion === fold.version) {
      return { position, events, stopped: null };
    }
    if (foldVersion > fold.version) {
      return { position, events, stopped: "newer_fold" };
    }
    const before = events;
    const done = await refold({ driver, assets, fold }, {
      maxChanges: 0,
      ...signal && { signal },
      onProgress: (progress) =>
        onProgress?.({
          position: progress.position,
          events: before + progress.events,
        }),
    });
    events += done.events;
  }
}
