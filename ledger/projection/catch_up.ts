/** Folds whatever waits, step by step; a ledger of an older fold is folded anew first. */
import type { ChainState } from "../evidence/evidence.ts";
import { read } from "../store/database.ts";
import { guardOf, selectGuard } from "./guard.ts";
import { type FoldParts, inSteps, NEXT_EVENTS } from "./steps.ts";
import { FOLD, type Projected } from "./project.ts";
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

/** Folds until nothing waits, in steps that appends can wait for. */
export async function catchUp(
  parts: FoldParts,
  { signal }: CatchUpOptions,
  onStep: (step: Projected) => void,
): Promise<Omit<Projection, "chain">> {
  const { driver, assets, fold = FOLD } = parts;
  const step = inSteps(parts, NEXT_EVENTS, 2000);
  let events = 0;
  for (;;) {
    signal?.throwIfAborted();
    const done = await step({});
    if (done.events > 0) {
      onStep(done);
      events += done.events;
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
