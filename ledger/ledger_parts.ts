import type { AssetTable } from "../core/assets/environment.ts";
import type { ChainOrigin } from "./hashes/chain_hash.ts";
import type { ChainBreak, ChainState } from "./evidence/chain_head.ts";
import type { AnchorStore } from "./hashes/anchored_head.ts";
import type { FoldCode } from "./projection/projector.ts";
import type { LedgerStats } from "./queries/stats.ts";
import type { WaitingDeliveries } from "./queries/waiting_deliveries.ts";
import type { Driver } from "./store/driver/driver.ts";

/** {@linkcode LedgerStats} with what waits, and the evidence chain. */
export interface Stats extends LedgerStats {
  /** What waits in spools; null where nothing is known to wait. */
  readonly waiting: WaitingDeliveries | null;
  /** How far the evidence chain reaches: record it elsewhere. */
  readonly chain: {
    /** Events in the chain. */
    readonly count: number;
    /** Hash of the last of them, 64 hex digits. */
    readonly hash: string;
    /** Position of the last of them. */
    readonly position: number;
    /** Why it is not extended; see {@linkcode ChainState}. */
    readonly broken: ChainBreak | null;
  };
}

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

/** How to project or to extend the chain. */
export interface CatchUpOptions {
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
  /**
   * Awaited before each step, so that more urgent work on the same database can
   * go first. Resolves to the most events the step may process.
   */
  readonly pace?: () => Promise<number>;
  /** Called after each step. */
  readonly onProgress?: (progress: {
    /** Position reached. */
    readonly position: number;
    /** Events so far. */
    readonly events: number;
  }) => void;
}

/** What a {@linkcode Ledger} works with; {@linkcode openLedger} makes it. */
export interface LedgerParts {
  /** The database of a ledger. */
  readonly driver: Driver;
  /** Environment and identity of the ledger. */
  readonly origin: ChainOrigin;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /**
   * Stores the head of the evidence chain outside the database.
   *
   * @default nowhere
   */
  readonly anchorStore?: AnchorStore;
  /** Whether nothing is written. @default false */
  readonly readOnly?: boolean;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
  /**
   * The fold; replaced by tests.
   *
   * @default the fold of this version
   */
  readonly fold?: FoldCode;
}
