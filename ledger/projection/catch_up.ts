/** Folds whatever waits, step by step; a ledger of an older fold is folded anew first. */
import type { ChainState } from "../evidence/evidence.ts";
import type { Driver } from "../store/driver/driver.ts";
import { read } from "../store/database.ts";
import { guardOf, selectGuard } from "./guard.ts";
import { FOLD, type Projected, type ProjectOptions } from "./project.ts";
import { refold } from "./refold.ts";

/** Result of {@linkcode Ledger.project}. */
export interface Projection {
  /** Position of the last event folded. */
  readonly position: number;
  /** Events folded by this call. */
  readonly events: number;
  /**
   * `newer_fold` when a newer version of this package has folded the ledger:
   * this one then stops folding, and goes on appending.
   */
  readonly stopped: null | "newer_fold";
  /** How far the evidence chain reaches, and whether it is broken. */
  readonly chain: ChainState;
}

/** How to project. */
export interface CatchUpOptions {
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly onProgress?: (progress: {
    /** Position reached. */
    readonly position: number;
    /** Events so far. */
    readonly events: number;
  }) => void;
}

/** Makes one step, here or in the thread that owns the file. */
export type MakeStep = (mostEvents: number) => Promise<Projected>;

export interface CatchUpParts extends ProjectOptions {
  readonly driver: Driver;
  readonly step: MakeStep;
}

/** A step should not take longer: an append waits for it. */
const STEP_MS = 45;
const FEWEST_EVENTS = 50;
const MOST_EVENTS = 2000;

/** How many events the next step takes, by how long the last ones took. */
class StepSize {
  #events = 200;

  get events(): number {
    return this.#events;
  }

  took(events: number, ms: number): void {
    // A step with few events says little of how long many take.
    if (events < this.#events / 2 || ms <= 0) return;
    const wanted = events * STEP_MS / ms;
    const next = Math.min(2 * this.#events, Math.max(wanted, this.#events / 2));
    this.#events = Math.round(
      Math.min(MOST_EVENTS, Math.max(FEWEST_EVENTS, next)),
    );
  }
}

/** Folds until nothing waits, in steps that appends can wait for. */
export async function catchUp(
  parts: CatchUpParts,
  { signal, onProgress }: CatchUpOptions,
  onStep: (step: Projected) => void,
): Promise<Omit<Projection, "chain">> {
  const { driver, assets, fold = FOLD, maxEvents = MOST_EVENTS } = parts;
  const size = new StepSize();
  let events = 0;
  for (;;) {
    signal?.throwIfAborted();
    const beganMs = performance.now();
    const step = await parts.step(Math.min(size.events, maxEvents));
    size.took(step.events, performance.now() - beganMs);
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
