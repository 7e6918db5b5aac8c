import type { Statement } from "../store/driver/driver.ts";
import type { Checkpoint, Checkpoints } from "../store/tables/checkpoints.ts";
import type { LoggedReleases } from "../releases/log_releases.ts";
import type { Changes } from "./batch.ts";

/** A step that is folded, and only has to be written. */
export interface PreparedStep {
  /** All checkpoints before it. */
  readonly checkpoints: Checkpoints;
  /** The checkpoint before it. */
  readonly from: Checkpoint;
  /** The checkpoint that it moves to. */
  readonly to: Checkpoint;
  /** How many events it folds. */
  readonly events: number;
  /** Whether more events wait than one step takes. */
  readonly manyWait: boolean;
  /** What it changes. */
  readonly changes: Changes;
  /** What it logs of releases, and which purchases it takes. */
  readonly releases: LoggedReleases;
  /** What writes that, behind a guard on the checkpoint before it. */
  readonly statements: readonly Statement[];
}

/** Nothing was to fold, or not by this version. */
export interface NothingPrepared {
  /** All checkpoints. */
  readonly checkpoints: Checkpoints;
  /** There is nothing to write. */
  readonly statements: null;
}
