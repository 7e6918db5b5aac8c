import type {
  OrderDetails,
  OrderFacts,
  OrderFees,
} from "../events/order_facts.ts";
import type { ChainReading } from "../events/chain_reading.ts";
import type { ExpectationTerms } from "../events/expectation.ts";
import type { Anomaly } from "../anomalies/anomaly.ts";
import type { AttentionKind } from "../outcomes/attention_kind.ts";
import type { StoredFacts } from "../outcomes/outcome_facts.ts";
import type { Uncompared } from "../outcomes/match.ts";
import type { ByHand } from "../outcomes/settled_by_hand.ts";
import type {
  Booked,
  OutcomeCode,
  Release,
  ReleaseReason,
} from "../outcomes/outcome_table.ts";
import type { Status, Trust } from "../machines/transition.ts";
import { isFinal, isKnown, orderRank } from "../machines/order_machine.ts";
import {
  claimState,
  contestingClaims,
  type DecidedStatus,
  highestClaim,
  type StatusFacts,
} from "../orders/order_status.ts";

/** A chain reading, as readers see it. */
export type WitnessState = Omit<
  ChainReading,
  | "digest"
  | "network"
  | "asset"
  | "type"
  | "txId"
  | "address"
  | "inputData"
  | "erased"
>;

/**
 * The state of an order by the facts known so far. A pure function of the set
 * of events: it holds no counts, no receipt ids, no positions.
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
  /** Its outcome: code of the first row that applies to `facts`. */
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
   * Why a person has to look, the gravest first. Reasons that depend on the
   * time or on another order are not among them, nor those that a person has
   * settled.
   */
  readonly attention: readonly AttentionKind[];
  /**
   * What a person recorded of it and has not taken back; null where nothing
   * stands. While something does, the release is `settled` unless it is `no`.
   */
  readonly byHand: ByHand | null;
  /**
   * What the partner's chain nodes show of the transaction: the look that
   * counts; null where nobody looked at what the service shows now.
   */
  readonly witness: WitnessState | null;
  /** The facts that decide the outcome, one word each. */
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
   * one that was recorded before the order under the click id which the service
   * shows. Null when none was, or too many to choose one.
   */
  readonly expected: ExpectationTerms | null;
  /** Whether that was asked for after the order had begun. */
  readonly expectedChanged: boolean;
  /** What of it could not be compared, and who left it out. */
  readonly uncompared: readonly Uncompared[];
  /** What is odd about this order, sorted by kind. */
  readonly anomalies: readonly Anomaly[];
}

/**
 * Why the status of an order is what it is. `read` is the status of the latest
 * reading, `claimed` what webhooks claim.
 */
export type OrderReason =
  /** The latest reading shows a final status. */
  | { readonly code: "reading_is_final"; readonly read: Status }
  /** The latest reading stands, because no webhook claims more. */
  | { readonly code: "reading_stands"; readonly read: Status }
  /** The latest reading shows a status that this version does not know. */
  | { readonly code: "reading_unrecognised"; readonly read: Status }
  /** The service shows the order without a status that can be read. */
  | {
    readonly code: "reading_without_status";
    /** The claim that counts; null when none does. */
    readonly claimed: Status | null;
  }
  /** The latest reading is final, and webhooks claim other final statuses. */
  | {
    readonly code: "final_reading_contested";
    readonly read: Status;
    readonly contesting: readonly Status[];
  }
  /** The service did not agree with higher claims. */
  | {
    readonly code: "higher_claims_contradicted";
    readonly read: Status;
    readonly contradicted: readonly Status[];
  }
  /** A webhook claims a higher status than that of the latest reading. */
  | {
    readonly code: "claim_ahead_of_reading";
    readonly claimed: Status;
    readonly read: Status;
  }
  /** A webhook claims the status, and the service was not read yet. */
  | { readonly code: "claim_not_read"; readonly claimed: Status }
  /** A webhook claims the status, and the service has no such order. */
  | { readonly code: "claim_of_absent_order"; readonly claimed: Status }
  /** The service agreed with no claim, and has shown no such order. */
  | {
    readonly code: "all_claims_contradicted";
    readonly contradicted: readonly Status[];
  }
  /** No webhook claims a status, and the service was not read yet. */
  | { readonly code: "nothing_claimed_or_read" }
  /** No webhook claims a status, and the service has no such order. */
  | { readonly code: "nothing_claimed_of_absent_order" };

/** Everything that the reason of a status depends on. */
export interface ReasonFacts extends StatusFacts {
  /** A reading without a status that can be read; null when there is none. */
  readonly statusless?: object | null;
  /** When the service was last asked and did not show the order. */
  readonly absentAt?: string | null;
}

/** Works out why the status of an order is what it is. */
export function orderReason(
  facts: ReasonFacts,
  { status, trust }: DecidedStatus,
): OrderReason {
  const { latest, claims, absentAt = null, statusless = null } = facts;
  if (latest !== null) {
    return trust === "claimed"
      ? {
        code: "claim_ahead_of_reading",
        claimed: status,
        read: latest.status,
      }
      : confirmedReason(facts, latest.status);
  }
  const claimed = highestClaim(facts);
  if (statusless !== null) return { code: "reading_without_status", claimed };
  if (claimed !== null) {
    return absentAt === null
      ? { code: "claim_not_read", claimed }
      : { code: "claim_of_absent_order", claimed };
  }
  if (claims.length > 0) {
    return {
      code: "all_claims_contradicted",
      contradicted: claims.map(({ status }) => status),
    };
  }
  return absentAt === null
    ? { code: "nothing_claimed_or_read" }
    : { code: "nothing_claimed_of_absent_order" };
}

function confirmedReason(facts: StatusFacts, read: Status): OrderReason {
  if (!isKnown(read)) return { code: "reading_unrecognised", read };
  const contesting = contestingClaims(facts);
  if (contesting.length > 0) {
    return { code: "final_reading_contested", read, contesting };
  }
  const contradicted = facts.claims.filter((claim) =>
    claimState(facts, claim) === "contradicted" &&
    orderRank(claim.status) > orderRank(read)
  ).map(({ status }) => status);
  if (contradicted.length > 0) {
    return { code: "higher_claims_contradicted", read, contradicted };
  }
  return isFinal(read)
    ? { code: "reading_is_final", read }
    : { code: "reading_stands", read };
}
