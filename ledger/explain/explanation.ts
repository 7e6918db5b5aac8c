/** What an explanation of an order says. */
import type { Verdict, WitnessRule } from "../../core/chain/verdict.ts";
import type { Anomaly } from "../anomalies/anomaly.ts";
import type { OrderContext } from "../attention/attention.ts";
import type { ActivityLabel, UnreadableReason } from "../events/fact.ts";
import type { HandOutcome } from "../events/hand_release.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Decision, Move } from "../machines/machine.ts";
import type {
  ClaimedStatus,
  OrderMoveAnomaly,
} from "../machines/order_machine.ts";
import type { Status } from "../machines/transition.ts";
import type { DecidedStatus } from "../orders/order_status.ts";
import type { OrderState } from "../states/order_state.ts";

/** Why the state of an order is what it is, event by event. */
export interface Explanation {
  /** Order identifier. */
  readonly orderId: string;
  /** The state that the events lead to. */
  readonly state: OrderState;
  /**
   * What was known besides the state.
   *
   * @default {a ledger that compares, and no other order}
   */
  readonly context?: OrderContext;
  /**
   * The events of the order, by position. If there are too many, the later ones
   * are left out.
   */
  readonly events: readonly ExplainedEvent[];
  /** How many events are left out: anybody can send any number of webhooks. */
  readonly leftOut: number;
  /** Where each field of the state that has a value comes from. */
  readonly fields: readonly ExplainedField[];
}

/** What one event did to the state. */
export interface ExplainedEvent {
  /** Place in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
  /** Kind of fact. */
  readonly kind: EventKind;
  /** What it is counted as. */
  readonly label: ActivityLabel;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** What it says. */
  readonly content: EventContent;
  /**
   * - `changed`: it changed the visible state; see `changes`.
   * - `noted`: it changed only what was heard (`history`, `sessions`), on which
   *   nothing depends: a late webhook, for example.
   * - `unchanged`: it changed nothing at all.
   */
  readonly effect: "changed" | "noted" | "unchanged";
  /**
   * The move that it made on the state machine of the order; null where status,
   * trust and latest reading stay.
   */
  readonly move: ExplainedMove | null;
  /** What changed; empty where `effect` is `unchanged`. */
  readonly changes: readonly FieldChange[];
  /** Why the effect is what it is. */
  readonly why: EffectReason;
}

/** The value of a field of the visible state: text, or an anomaly. */
export type FieldValue = string | Anomaly;

/** A change of one field of the visible state. */
export interface FieldChange {
  /** Field, dotted inside objects: `fees.partnerFee`. */
  readonly field: string;
  /** Value before; null is none. */
  readonly before: FieldValue | null;
  /** Value after; null is none. */
  readonly after: FieldValue | null;
}

/** Where a field of the state comes from. */
export interface ExplainedField {
  /** Field, dotted inside objects. */
  readonly field: string;
  /** Value. */
  readonly value: FieldValue;
  /** What kind of source it is. */
  readonly source: "snapshot" | "webhook" | "session";
  /** Place of the event in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
}

/** The move that an event made on the state machine of an order. */
export interface ExplainedMove {
  /** Status and trust before; null where nothing was known of the order. */
  readonly from: DecidedStatus | null;
  /** Status and trust after. */
  readonly to: DecidedStatus;
  /** What the table says of the latest reading and the highest claim. */
  readonly decision: Decision;
  /**
   * How the latest reading follows the one before it; null unless the event
   * brought one with another status.
   */
  readonly reading:
    | (Move<OrderMoveAnomaly> & {
      /** Status of the reading before. */
      readonly from: Status;
      /** Status of the latest reading. */
      readonly to: Status;
    })
    | null;
}

/** What an event says. */
export type EventContent =
  | {
    readonly code: "webhook";
    readonly label: ActivityLabel;
    /** The status that it claims; null when it claims none. */
    readonly claimed: ClaimedStatus | null;
    /** False when it claims a status and its fields are erased or unreadable. */
    readonly hasBody: boolean;
  }
  | {
    readonly code: "reading";
    /** The status that it shows; null when none can be read. */
    readonly status: Status | null;
    /** Effective time of the last change, UTC ISO 8601. */
    readonly changedAt: string | null;
    /** Effective time of the reading, UTC ISO 8601. */
    readonly readAt: string;
  }
  | {
    readonly code: "absence";
    /** Effective time of the question, UTC ISO 8601. */
    readonly readAt: string;
  }
  | {
    readonly code: "contradiction";
    readonly claimed: Status;
    /** Claims received until then are contradicted. */
    readonly upTo: string;
  }
  | {
    readonly code: "chain";
    /** What the nodes showed. */
    readonly verdict: Verdict;
    /** Whether it had the confirmations that the partner asks for. */
    readonly final: boolean;
    /** Effective time of the look, UTC ISO 8601. */
    readonly readAt: string;
  }
  | { readonly code: "requirement"; readonly rule: WitnessRule }
  | { readonly code: "session"; readonly sessionId: string }
  /** A person delivered or refunded it. */
  | {
    readonly code: "by_hand";
    readonly outcome: HandOutcome;
    readonly reference: string | null;
    /** Who did it. */
    readonly by: string | null;
    readonly why: string | null;
  }
  | { readonly code: "unreadable" | "other"; readonly label: ActivityLabel };

/** The reason for the effect of an event on the state. */
export type EffectReason =
  | {
    readonly code:
      /** It is a reading of the service, a question, or a session. */
      | "reading"
      | "absence"
      | "contradiction"
      | "session"
      /** The partner's nodes were asked. */
      | "looked"
      /** From then on orders wait for the chain, or wait no more. */
      | "required"
      /** A later look counts, or the service shows another transaction now. */
      | "look_does_not_count"
      /** A person did it, or only noted something. */
      | "person"
      | "person_noted"
      /** It names the order. */
      | "names_order"
      /** A webhook claims the status of the order. */
      | "claim_counts"
      /** A reading at least as late shows the order. */
      | "shown_since"
      /** No claim stands that it contradicts. */
      | "no_claim_to_contradict"
      /** The session is not, or not newly, the order's own. */
      | "expectation_known"
      | "expectation_not_linked"
      | "expectation_of_other_click_id"
      | "expectation_after_order"
      | "expectation_expired"
      | "click_id_shared_by_many"
      | "order_of_other_expectation"
      /** The service has already shown this. */
      | "read_before"
      /** Another webhook claims the same. */
      | "claimed_before"
      /** A reading says nothing new. */
      | "reading_without_status"
      | "reading_unchanged"
      /** It does not concern the order. */
      | "not_of_order";
  }
  /** The service shows the status itself; the webhook adds to what is known. */
  | { readonly code: "already_confirmed"; readonly read: Status }
  /** The same bytes were received before, at this position. */
  | { readonly code: "repeated"; readonly position: number }
  /** The body says nothing; `names_order_unreadably`: but it names the order. */
  | {
    readonly code: "unreadable" | "names_order_unreadably";
    readonly reason: UnreadableReason;
  }
  /** The service showed the claimed status before, and shows another now. */
  | {
    readonly code: "claim_used_up";
    readonly claimed: Status;
    readonly read: Status;
  }
  /** The service was asked and did not agree with the claim. */
  | { readonly code: "claim_contradicted"; readonly claimed: Status }
  /** Another claim ranks higher. */
  | {
    readonly code: "higher_claim";
    readonly claimed: Status;
    readonly higher: Status;
  }
  /** No webhook changes what the service shows. */
  | {
    readonly code: "reading_is_final" | "reading_unrecognised";
    readonly read: Status;
  }
  /** The service shows a status of at least the same rank. */
  | {
    readonly code: "reading_ranks_above" | "reading_ranks_equal";
    readonly claimed: Status;
    readonly read: Status;
  }
  /** A later state of the service is known. */
  | {
    readonly code: "later_state_known";
    /** When that state was reached; null when the service does not say. */
    readonly changedAt: string | null;
  };
