import type {
  OrderDetails,
  OrderFacts,
  OrderFees,
} from "../events/order_facts.ts";
import type { ExpectationTerms } from "../events/expectation.ts";
import type { Anomaly } from "../anomalies/anomaly.ts";
import type { AttentionKind } from "../outcomes/attention_kind.ts";
import type { StoredFacts } from "../outcomes/outcome_facts.ts";
import type { ByHand } from "../outcomes/settled_by_hand.ts";
import type {
  Booked,
  OutcomeCode,
  Release,
  ReleaseReason,
} from "../outcomes/outcome_table.ts";
import type { OrderReason } from "./order_reason.ts";
import type { Status, Trust } from "../machines/status.ts";

/**
 * What is true of an order, as far as the facts known say. A pure function of
 * the set of events: it holds no counts, no receipt ids, no positions.
 */
export interface OrderState extends OrderFacts, OrderDetails {
  /** Order identifier. */
  readonly orderId: string;
  /** Status by the rules of the ledger. */
  readonly status: Status;
  /** Whether `status` is confirmed by the service. */
  readonly trust: Trust;
  /** The reason for the status. */
  readonly reason: OrderReason;
  /** What it has come to: code of the first row that applies to `facts`. */
  readonly outcome: OutcomeCode;
  /**
   * Whether the goods may be released, by that row. No webhook changes it once
   * the service has shown the order.
   */
  readonly release: Release;
  /** Why. */
  readonly releaseReason: ReleaseReason;
  /** What a month books of it. */
  readonly booked: Booked;
  /**
   * Why a person has to look, the gravest first; but for what a time or
   * another order makes of it, and without what a person has settled.
   */
  readonly attention: readonly AttentionKind[];
  /**
   * What a person did about it; null while nobody did. Its release stays what
   * the row says: no handler gets a yes of the order any more.
   */
  readonly byHand: ByHand | null;
  /** All that the outcome depends on, one word each. */
  readonly facts: StoredFacts;
  /**
   * Creation time as the service states it, UTC ISO 8601. One later than the
   * reading that shows it is an anomaly, and nothing is decided by it.
   */
  readonly createdAt: string | null;
  /** Last change as the service states it, UTC ISO 8601; likewise. */
  readonly changedAt: string | null;
  /** What was charged. */
  readonly fees: OrderFees;
  /** Input data and address of a smart-contract order. */
  readonly smartContract: {
    readonly address: string | null;
    readonly inputData: string | null;
  };
  /** Whether a webhook said that the transfer has begun. */
  readonly transferSeen: boolean;
  /** Distinct (source, status) pairs seen, sorted. */
  readonly history: readonly {
    readonly source: "webhook" | "snapshot";
    readonly status: Status;
  }[];
  /** What webhooks say, chosen field by field; null when none came. */
  readonly claimed: (OrderFacts & { readonly status: Status }) | null;
  /** What the latest snapshot says; null when there is none. */
  readonly confirmed: (OrderFacts & { readonly status: Status }) | null;
  /** Widget sessions this order was seen in, sorted. */
  readonly sessions: readonly string[];
  /**
   * What the partner expects of the order: the one that matched, else the last
   * one that was recorded before the order under the click id which the
   * service shows. Null when none was, or so many that it does not tell.
   */
  readonly expected: ExpectationTerms | null;
  /** What is odd about this order, sorted by kind. */
  readonly anomalies: readonly Anomaly[];
}
