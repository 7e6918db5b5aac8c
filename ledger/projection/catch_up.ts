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
}

/** Makes one step, here or in the thread that owns the file. */
export type MakeStep = (mostEvents: number) => Promise<Projected>;

interface CatchUpParts extends ProjectOptions {
  readonly driver: Driver;
  readonly step: MakeStep;
}

/** A step should not take longer: an append waits for it. */
const STEP_MS = 45;
const FEWEST_EVENTS = 50;
const MOST_EVENTS = 2000;

/** How many events the next step takes, by how long the last one took. */
function sizeAfter(size: number, events: number, ms: number): number {
  // A step with few events says little of how long many take.
  if (events < size / 2 || ms <= 0) return size;
  const wanted = Math.max(events * STEP_MS / ms, size / 2, FEWEST_EVENTS);
  return Math.round(Math.min(wanted, 2 * size, MOST_EVENTS));
}

/** Folds until nothing waits, in steps that appends can wait for. */
export async function catchUp(
  parts: CatchUpParts,
  { signal }: CatchUpOptions,
  onStep: (step: Projected) => void,
): Promise<Omit<Projection, "chain">> {
  const { driver, assets, fold = FOLD } = parts;
  let size = 200;
  let events = 0;
  for (;;) {
    signal?.throwIfAborted();
    const beganMs = performance.now();
    const step = await parts.step(size);
    size = sizeAfter(size, step.events, performance.now() - beganMs);
    if (step.events > 0) {
      onStep(step);
      events += step.events;
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
    const options = signal === undefined ? {} : { signal };
    events += (await refold({ driver, assets, fold }, options)).events;
  }
}
