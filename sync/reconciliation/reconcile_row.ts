import type { AssetTable } from "../../core/assets/environment.ts";
import type { OrderFacts } from "../../ledger/for_sync.ts";
import type { OrderState, Status, Trust } from "../../ledger/mod.ts";
import type { IncompleteReason } from "../../core/wire/completeness.ts";
import type { PollClient } from "../walk/poll_client.ts";
import type { ReconcileLedger } from "../polling/poller_options.ts";

/** All categories, in the order in which they are shown. */
export const RECONCILE_CATEGORIES = [
  "agree",
  "claimed_only",
  "behind",
  "final_changed",
  "contradicted",
  "absent",
] as const;

/**
 * How service and ledger compare on one order.
 *
 * - `agree`: the service has confirmed what the ledger holds.
 * - `claimed_only`: webhooks are ahead of what the ledger has read.
 * - `behind`: the service has moved on, or knows an order the ledger does not.
 * - `final_changed`: the service took a final status back; whatever was
 *   released or refunded by it has to be looked at.
 * - `contradicted`: a webhook claims what the service does not agree with.
 * - `absent`: the ledger knows an order the service does not.
 */
export type ReconcileCategory = (typeof RECONCILE_CATEGORIES)[number];

/** All flags, in the order in which they are shown. */
export const RECONCILE_FLAGS = [
  "refund_due",
  "sent_without_success",
  "cancelled_after_payment",
  "amount_mismatch",
  "not_as_requested",
  "contradictory_reading",
  "success_without_transaction",
  "stuck",
  "missed_webhook",
] as const;

/**
 * What a person should look at, whether or not the two agree.
 *
 * - `missed_webhook`: the webhook of the order's status never came.
 * - `stuck`: paid and not delivered for too long.
 * - `refund_due`: paid after the order's timeout (4016).
 * - `amount_mismatch`: paid amount is not the order's (4017).
 * - `not_as_requested`: success, and not what was asked for.
 * - `cancelled_after_payment`: cancelled, and not stated that nothing was
 *   charged.
 * - `success_without_transaction`: success, and the transaction is empty.
 * - `sent_without_success`: failed or cancelled, and a transaction is named.
 * - `contradictory_reading`: success, and a payment error is named.
 */
export type ReconcileFlag = (typeof RECONCILE_FLAGS)[number];

/** A field on which service and ledger differ. */
export interface FieldDifference {
  /** Name of the field in an order's state. */
  readonly field: keyof OrderFacts | "status";
  /** What the service says; null when it states none. */
  readonly service: string | null;
  /** What the ledger says; null when it states none. */
  readonly ledger: string | null;
}

/** What to look up on the chain. */
export type OnChain = Pick<
  OrderFacts,
  "commodity" | "network" | "cryptoAmount" | "address" | "txId"
>;

/** One order, compared. */
export interface ReconcileRow {
  /** Order identifier. */
  readonly orderId: string;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** How the two compare. */
  readonly category: ReconcileCategory;
  /** Whether they disagree: what the exit code 3 is about. */
  readonly disagrees: boolean;
  /** What a person should look at. */
  readonly flags: readonly ReconcileFlag[];
  /** Status at the service; null when it does not know the order. */
  readonly serviceStatus: Status | null;
  /** Status in the ledger; null when it does not know the order. */
  readonly ledgerStatus: Status | null;
  /** How sure the ledger is. */
  readonly trust: Trust | null;
  /** Fields that differ. */
  readonly differences: readonly FieldDifference[];
  /** Creation time by the service, UTC ISO 8601. */
  readonly createdAt: string | null;
  /** Last change by the service, UTC ISO 8601. */
  readonly changedAt: string | null;
  /** For the partner's own check on chain: no chain is read here. */
  readonly onChain: OnChain;
  /** What was found. */
  readonly finding: ReconcileFinding;
}

export interface BothSides {
  /** The order by the service's answer alone; null when it is not there. */
  readonly service: OrderState | null;
  /** The order in the ledger; null when it is not there. */
  readonly ledger: OrderState | null;
}

export interface ReconcileRules {
  /** The service's time at the reading, in milliseconds since the epoch. */
  readonly readAtMs: number;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /** Paid and not delivered for this long is stuck, in milliseconds. */
  readonly stuckAfterMs: number;
  /** A webhook may take this long, in milliseconds. */
  readonly webhookGraceMs: number;
  /**
   * A change this fresh does not count as a disagreement yet, in milliseconds.
   */
  readonly toleranceMs: number;
}

/**
 * What was found about one order, as a code with its data. The fields that
 * differ stand in `differences` of the row.
 */
export type ReconcileFinding =
  | {
    /** The ledger knows the order, the service does not. */
    readonly code: "unknown_to_service";
    /** Status in the ledger. */
    readonly status: Status;
    /** How sure the ledger is. */
    readonly trust: Trust;
  }
  | {
    /** The service knows the order, the ledger does not. */
    readonly code: "unknown_to_ledger";
    /** Status at the service. */
    readonly status: Status;
  }
  | {
    /** Webhooks claim other final statuses than the service shows. */
    readonly code: "claim_contests_final";
    /** Status that the service shows. */
    readonly read: Status;
    /** Statuses that webhooks claim. */
    readonly claimed: readonly Status[];
  }
  | {
    /** The service did not agree with a claim. */
    readonly code: "claim_contradicted";
    /** Status that a webhook claimed. */
    readonly claimed: Status;
    /** Status that the service shows; null when it does not know the order. */
    readonly read: Status | null;
  }
  | {
    /** The service took a final status back. */
    readonly code: "final_changed";
    /** Status that the service shows. */
    readonly read: Status;
    /** Final statuses that it has shown before. */
    readonly before: readonly Status[];
  }
  | {
    /**
     * - `claim_of_other_end`: a webhook claims another final status.
     * - `claim_equal`: a webhook claims what the service shows, and the
     *   ledger has not read it yet.
     * - `claim_differs`: a webhook is ahead of the service, or wrong.
     * - `change_not_read`: the ledger has not read the last change.
     */
    readonly code:
      | "claim_of_other_end"
      | "claim_equal"
      | "claim_differs"
      | "change_not_read";
  }
  | {
    /** Both sides hold the same. */
    readonly code: "agree";
    /** The status that both have. */
    readonly status: Status;
  };

/** Why it is not proven that the service showed everything. */
export type UnprovenReason =
  | IncompleteReason
  | {
    /** The service refuses each request that asks for the order. */
    readonly code: "order_refused";
    /** The order. */
    readonly orderId: string;
  }
  | {
    /** A search by order ids did not reach its end. */
    readonly code: "search_not_ended";
  };

/** All findings, the gravest first: money that is owed or may be lost, then
 * states that are not what the service says, then what is only slow. */
export const RECONCILE_SEVERITY: readonly (
  | ReconcileCategory
  | ReconcileFlag
)[] = [
  "refund_due",
  "final_changed",
  "sent_without_success",
  "cancelled_after_payment",
  "amount_mismatch",
  "not_as_requested",
  "contradictory_reading",
  "success_without_transaction",
  "stuck",
  "contradicted",
  "absent",
  "behind",
  "claimed_only",
  "missed_webhook",
  "agree",
];

/** Sorts rows by their gravest finding, then the oldest order first. */
export function bySeverity(a: ReconcileRow, b: ReconcileRow): number {
  return severity(a) - severity(b) ||
    compare(a.createdAt ?? "", b.createdAt ?? "") ||
    compare(a.orderId, b.orderId);
}

/** Place in the list; 0 is the gravest. */
function severity({ category, flags }: ReconcileRow): number {
  return Math.min(
    ...[category, ...flags].map((found) => RECONCILE_SEVERITY.indexOf(found)),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

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
