import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { MismatchKind } from "../../core/wire/order_fields.ts";
import type { OddValue } from "../../core/wire/page.ts";
import type { Status } from "../machines/transition.ts";

/**
 * Something odd that a person may have to look at: a value, not an error. It
 * holds a kind and data; a sentence is made of them where they are shown.
 */
export type Anomaly =
  | StatusAnomaly
  | TransactionAnomaly
  | WebhookMismatch
  | SessionMismatch
  | UnknownSession
  | VerificationReversed
  | TimeInFuture
  | TimeBeforeCreation
  | UnreadableField;

/** The kinds of anomaly. */
export type AnomalyKind = Anomaly["kind"];

/** An anomaly that is not about a single field. */
export interface WithoutField {
  /** Never set. */
  readonly field?: never;
}

/** An anomaly of the status of an order. */
export type StatusAnomaly =
  & WithoutField
  & (
    /**
     * Final claims that still count differ from the confirmed final status.
     */
    | {
      readonly kind: "contested";
      /** Status of the latest reading. */
      readonly read: Status;
      /** Final statuses that webhooks claim. */
      readonly claimed: readonly Status[];
    }
    /** Webhooks claim more than one final status. */
    | {
      readonly kind: "contradictory_webhooks";
      /** Final statuses that webhooks claim. */
      readonly claimed: readonly Status[];
    }
    /** The service did not agree with a claim for ten minutes. */
    | {
      readonly kind: "contradicted";
      /** Status that a webhook claimed. */
      readonly claimed: Status;
      /** Status of the latest reading; null without one. */
      readonly read: Status | null;
    }
    /** The service showed another final status before: it took it back. */
    | {
      readonly kind: "final_changed";
      /** Status of the latest reading. */
      readonly read: Status;
      /** Final statuses that the service showed before. */
      readonly before: readonly Status[];
    }
    /** The service's own history went backwards. */
    | {
      readonly kind: "regression";
      /** The higher status. */
      readonly from: Status;
      /** When the service first showed it, UTC ISO 8601. */
      readonly fromAt: string;
      /** The lower status. */
      readonly to: Status;
      /** When the service last showed it, UTC ISO 8601. */
      readonly toAt: string;
    }
    /** The service was asked after its latest reading and has no such order. */
    | {
      readonly kind: "absent";
      /** Whether a reading showed the order before. */
      readonly wasObserved: boolean;
    }
    /** A status this version does not know. */
    | { readonly kind: "unrecognised_status"; readonly read: Status }
  );

/** An anomaly of the transaction of an order. */
export type TransactionAnomaly =
  /** Confirmed success whose transaction field is present and empty. */
  | {
    readonly kind: "success_without_transaction";
    readonly field: "txId";
  }
  /** The service states a transaction that is not in the form of its network. */
  | {
    readonly kind: "transaction_unreadable";
    readonly field: "txId";
    /** The transaction as stated; null once erased. */
    readonly txId: string | null;
  }
  /** A transaction on a failed or cancelled order. */
  | {
    readonly kind: "transaction_on_unsuccessful";
    readonly field: "txId";
    /** Status of the order. */
    readonly status: Status;
    /** The transaction. */
    readonly txId: string;
    /** Who states the transaction. */
    readonly source: "snapshot" | "webhook";
  };

export type { MismatchKind };

/** A webhook states another value than the latest reading. */
export interface WebhookMismatch {
  /** Kind of anomaly. */
  readonly kind: MismatchKind;
  /** Field of the state. */
  readonly field: string;
  /** What differs from the reading. */
  readonly source: "webhook";
  /** Value of the webhook. */
  readonly stated: string;
  /** Value of the latest reading. */
  readonly read: string;
}

/** An order has another value than its session asked for. */
export interface SessionMismatch {
  /** Kind of anomaly. */
  readonly kind: MismatchKind;
  /** Field of the state. */
  readonly field: string;
  /** What differs from the order. */
  readonly source: "session";
  /** Value that the session asked for. */
  readonly requested: string;
  /** Value of the order. */
  readonly ordered: string;
  /** Whether the flow of the session lets the customer choose another value. */
  readonly customerMayChoose: boolean;
}

/** Webhooks name sessions that are not candidates of the order. */
export interface UnknownSession extends WithoutField {
  /** Kind of anomaly. */
  readonly kind: "session_mismatch";
  /** The sessions, in the order in which they were named. */
  readonly sessionIds: readonly string[];
}

/**
 * The service took a success of a verification back, or shows one as not
 * initiated that had begun.
 */
export interface VerificationReversed {
  /** Kind of anomaly. */
  readonly kind: "verification_reversed";
  /** Which verification. */
  readonly field: "lkyc" | "fkyc";
  /** State by the latest reading. */
  readonly read: VerificationState;
  /** The states, shown by earlier readings, that it follows unexpectedly. */
  readonly before: readonly VerificationState[];
}

/** A time of the service lies after the reading that shows it. */
export interface TimeInFuture {
  /** Kind of anomaly. */
  readonly kind: "time_in_future";
  /** Field of the state. */
  readonly field: string;
  /** The time as the service states it, UTC ISO 8601. */
  readonly stated: string;
}

/** The service states that an order changed before it was created. */
export interface TimeBeforeCreation {
  /** Kind of anomaly. */
  readonly kind: "time_before_creation";
  /** Field of the state. */
  readonly field: "changedAt";
  /** The time as the service states it, UTC ISO 8601. */
  readonly stated: string;
}

/** The service sent another kind of value than documented; it is left out. */
export interface UnreadableField {
  /** Kind of anomaly. */
  readonly kind: "unreadable_field";
  /** Path of the field by the service's names. */
  readonly field: string;
  /** The value that was sent. */
  readonly value: OddValue;
}

/** Every kind, so that a list can be searched for one of them. */
export const ANOMALY_KINDS: readonly AnomalyKind[] = Object.keys(
  {
    contested: true,
    contradictory_webhooks: true,
    contradicted: true,
    amount_mismatch: true,
    asset_mismatch: true,
    user_mismatch: true,
    address_mismatch: true,
    transaction_mismatch: true,
    success_without_transaction: true,
    transaction_on_unsuccessful: true,
    transaction_unreadable: true,
    session_mismatch: true,
    regression: true,
    final_changed: true,
    absent: true,
    verification_reversed: true,
    time_before_creation: true,
    time_in_future: true,
    unreadable_field: true,
    unrecognised_status: true,
  } satisfies Record<AnomalyKind, true>,
) as AnomalyKind[];
