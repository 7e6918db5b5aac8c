import type { Driver, OrderState } from "../../ledger/for_sync.ts";

/** What the poller needs of a ledger: `Ledger` fits. */
export interface PollLedger {
  /** The database. */
  readonly driver: Driver;
  /** Folds what is new, and extends the evidence chain. */
  project(options?: { readonly signal?: AbortSignal }): Promise<unknown>;
  /**
   * Calls a function whenever this process has folded webhooks. Without it, the
   * poller looks for what they named once a second.
   */
  onRequested?(listener: () => void): Disposable;
}

/** What comparing needs of a ledger: `Ledger` fits. */
export interface ReconcileLedger extends PollLedger {
  /** Orders as folded so far. */
  readonly orders: {
    /** One order by its id. */
    get(orderId: string): Promise<OrderState | null>;
    /** Orders of a stretch of creation time. */
    list(query?: {
      readonly createdAfter?: string;
      readonly createdUpTo?: string;
      readonly sort?: "newest" | "oldest";
    }): AsyncIterable<OrderState>;
  };
}
