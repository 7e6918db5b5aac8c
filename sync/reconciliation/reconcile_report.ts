import type {
  ReconcileCategory,
  ReconcileFlag,
  ReconcileRow,
  UnprovenReason,
} from "./reconcile_row.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { PollClient } from "../walk/poll_client.ts";
import type { ReconcileLedger } from "../polling/poll_ledger.ts";

/** What to compare, and how. */
export interface ReconcileOptions {
  /** The ledger. */
  readonly ledger: ReconcileLedger;
  /** Makes the requests; its own rate limit holds. */
  readonly client: PollClient;
  /**
   * Start of the window of creation time, in milliseconds since the epoch.
   *
   * @default {the oldest order}
   */
  readonly fromMs?: number;
  /** End of it, in milliseconds since the epoch. @default {now} */
  readonly toMs?: number;
  /** The clock, in ms. @default {Date.now} */
  readonly now?: () => number;
  /** Asset table that gives the precision of amounts. @default {"production"} */
  readonly assets?: AssetTable;
  /** Paid and not delivered for this long is stuck, in ms. @default {3600000} */
  readonly stuckAfterMs?: number;
  /** A webhook may take this long, in ms. @default {300000} */
  readonly webhookGraceMs?: number;
  /** A change younger than this does not count as a disagreement, in ms. @default {0} */
  readonly toleranceMs?: number;
  /** Younger than this, the past may still change, in ms. @default {60000} */
  readonly settleMs?: number;
  /** Lists the orders that agree as well. @default {false} */
  readonly all?: boolean;
  /** Called with each order compared. */
  readonly onProgress?: (compared: number) => void;
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/** Service and ledger, compared. */
export interface ReconcileReport {
  /** Start of the window, UTC ISO 8601. */
  readonly from: string;
  /** End of the window, UTC ISO 8601. */
  readonly to: string;
  /** End of what can be proven: what is younger may still change. */
  readonly provenUpTo: string;
  /** Orders compared. */
  readonly orders: number;
  /** Orders by category and by flag; a row has one category, any flags. */
  readonly counts: Readonly<Record<ReconcileCategory | ReconcileFlag, number>>;
  /** Orders on which the two disagree: exit code 3 unless it is zero. */
  readonly disagreements: number;
  /** Whether it is proven that the service showed all up to `provenUpTo`. */
  readonly complete: boolean;
  /** Why it is not; null when it is. */
  readonly why: UnprovenReason | null;
  /**
   * Orders that disagree or that a person should look at, the gravest first,
   * then the oldest.
   */
  readonly rows: readonly ReconcileRow[];
}
