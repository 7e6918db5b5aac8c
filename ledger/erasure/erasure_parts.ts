import type { ResolveOptions } from "../orders/resolve_order.ts";
import type { FoldCode } from "../projection/projector.ts";
import type { Driver } from "../store/driver/driver.ts";

/** What an erasure works with. */
export interface ErasureParts extends ResolveOptions {
  /** A database that has been migrated. */
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
