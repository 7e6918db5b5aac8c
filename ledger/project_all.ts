import type { CatchUpOptions, Projection } from "./ledger_parts.ts";
import type { Driver } from "./store/driver/driver.ts";
import type { Projector, Step } from "./projection/projector.ts";
import { refold } from "./refold/refold.ts";

/**
 * Folds events until none is left; a ledger that an older version has folded is
 * folded again from nothing first, beside the states that readers see.
 *
 * @param projector The fold.
 * @param options Pace, signal and progress.
 * @param onStep Called after each step that folded events.
 * @throws {LedgerError} When the database fails.
 */
export async function projectAll(
  projector: Projector,
  driver: Driver,
  options: CatchUpOptions,
  onStep: (step: Step) => void,
): Promise<Omit<Projection, "chain">> {
  const { signal, pace, onProgress } = options;
  let events = 0;
  for (;;) {
    const mostEvents = await pace?.();
    signal?.throwIfAborted();
    const step = await projector.step("live", mostEvents);
    const version = step.checkpoints.live?.foldVersion ??
      projector.foldVersion;
    if (version > projector.foldVersion) {
      return { position: step.position, events, stopped: "newer_fold" };
    }
    if (version < projector.foldVersion) {
      const before = events;
      const done = await refold(projector, driver, {
        compare: false,
        ...(signal && { signal }),
        onProgress: (progress) =>
          onProgress?.({
            position: progress.position,
            events: before + progress.events,
          }),
      });
      events += done?.events ?? 0;
      continue;
    }
    if (step.events === 0) {
      return { position: step.position, events, stopped: null };
    }
    onStep(step);
    events += step.events;
    onProgress?.({ position: step.position, events });
  }
}
