import type { ResolveOptions } from "../orders/resolve_order.ts";
import { FOLD_VERSION } from "../projection/fold_version.ts";
import type { FoldCode } from "../projection/projector.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import {
  type Checkpoint,
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { selectLastPosition } from "../store/tables/deliveries.ts";

/** What an erasure works with. */
export interface ErasureParts extends ResolveOptions {
  /** The database of a ledger. */
  readonly driver: Driver;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Random bytes for names, keys and salts. */
  readonly randomBytes: (length: number) => Uint8Array;
  /**
   * The fold; replaced by tests.
   *
   * @default the fold of this version
   */
  readonly fold?: FoldCode;
}

/** Result of comparing the events with the values of erased people. */
export interface Comparison {
  /** Events that were blanked: they held such a value and were nobody else's. */
  readonly blanked: number;
  /** Events that are listed for a person. */
  readonly listed: number;
}

/** How far events are folded before something is taken out of them. */
export interface FoldedEvents {
  /** Where the fold stands whose states readers see. */
  readonly live: Checkpoint;
  /** Whether every event is folded. */
  readonly isLast: boolean;
}

/**
 * Reads how far events are folded.
 *
 * @param work What needs it, for the message: `erase`.
 * @throws {LedgerError} `failed` where another version has folded the ledger.
 */
export async function readFoldedEvents(
  { driver, fold }: ErasureParts,
  work: "erase" | "prune",
): Promise<FoldedEvents> {
  const [checkpoints, last] = await readPrimary(driver, [
    selectCheckpoints,
    selectLastPosition,
  ]);
  const { live } = checkpointsOf(checkpoints);
  if (live === null || live.foldVersion !== (fold?.version ?? FOLD_VERSION)) {
    throw new LedgerError(
      "failed",
      `Cannot ${work}: the events are not folded by this version; fold them ` +
        "first, with ledger.project()",
    );
  }
  return { live, isLast: last?.rows[0]?.[0] === live.position };
}
