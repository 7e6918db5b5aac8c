import type { SessionCreatedBody } from "../event/event.ts";
import type { OrderEventType } from "../../webhooks/event.ts";
import type { Status } from "./order_state.ts";

/** A status that a webhook can claim. */
export type ClaimedStatus =
  | "progress"
  | "pending"
  | "failed"
  | "success"
  | "cancelled";

/** What each order event claims. Source: service interface, "Events". */
export const claimOf: Readonly<Record<OrderEventType, ClaimedStatus>> = {
  payment_started: "progress",
  transfer_started: "pending",
  order_complete: "success",
  order_failed: "failed",
  order_cancelled: "cancelled",
};

/**
 * What every fact has: a recorded event, decoded once and normalised, and the
 * ids of what it concerns. Folds look at facts, never at bodies.
 */
export interface FactBase {
  /** Place in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Digest of the body; the empty string once erased. */
  readonly digest: string;
  /** What it is counted as, see {@linkcode ActivityLabel}. */
  readonly label: ActivityLabel;
  /** The order it concerns. */
  readonly orderId: string | null;
  /** The user it concerns. */
  readonly userId: string | null;
  /** The widget session it concerns. */
  readonly sessionId: string | null;
  /** The click id it concerns; never empty nor the test click id. */
  readonly clickId: string | null;
}

/**
 * What a fact is counted as: a documented webhook type (`order_canceled`
 * counts as `order_cancelled`), `unrecognised` for any other, `quarantined`
 * for a body that is no JSON object, or the kind of an event of another kind.
 */
export type ActivityLabel =
  | "registration"
  | "login"
  | "logout"
  | "card_added"
  | "verify_start"
  | "verify_retry"
  | "verify_failed"
  | "verify_success"
  | "otp_status"
  | "test"
  | OrderEventType
  | "unrecognised"
  | "quarantined"
  | "order_snapshot"
  | "user_snapshot"
  | "order_absent"
  | "order_contradicted"
  | "session_created"
  | "delivery_unanswered";

/** What a webhook says of an order's fields; null is unsaid. */
export interface ClaimBody {
  /** Digest of the body. */
  readonly digest: string;
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string | null;
  /** Asset code, upper case. */
  readonly commodity: string | null;
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string | null;
  /** Address the asset goes to. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** User identifier. */
  readonly userId: string | null;
  /** Click id. */
  readonly clickId: string | null;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** `error_code` of a failed order. */
  readonly failReason: string | null;
  /** Address of a smart contract. */
  readonly scAddress: string | null;
  /** Input data of a smart-contract order. */
  readonly scInputData: string | null;
}

/** One step of sending a one-time code. */
export interface OtpStep {
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Identifier of the event: two equal steps are two steps. */
  readonly eventId: string;
  /** `requested`, `success`, `failed`, or a step not known here. */
  readonly status: string;
  /** On failure: a reason for people. */
  readonly detail: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phoneCountry: string | null;
}

/** A webhook: what it claims of an order, and says of a user. */
export interface WebhookFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "webhook";
  /** Status it claims for `orderId`; null when it claims none. */
  readonly claim: ClaimedStatus | null;
  /** Fields it states of the order; null without, and once erased. */
  readonly body: ClaimBody | null;
  /** State of the light verification, as sent. */
  readonly lkyc: string | null;
  /** State of the document verification, as sent. */
  readonly fkyc: string | null;
  /** Why a verification was rejected. */
  readonly rejectType: string | null;
  /** Step of sending a one-time code. */
  readonly otp: OtpStep | null;
}

/**
 * What a reading of the orders endpoint says. In its fields null is absent and
 * the empty string is the service's word that there is none.
 */
export interface OrderReading {
  /** Digest of the exact value. */
  readonly digest: string;
  /** When it was read, UTC ISO 8601. */
  readonly readAt: string;
  /** Status. */
  readonly status: Status;
  /** Time of the last change, UTC ISO 8601; empty when not stated. */
  readonly changedAt: string;
  /** Creation time, UTC ISO 8601; empty when not stated. */
  readonly createdAt: string;
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string | null;
  /** Asset code, upper case. */
  readonly commodity: string | null;
  /** Middle part of the dotted asset. */
  readonly cryptoType: string | null;
  /** Network. */
  readonly network: string | null;
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string | null;
  /** Address the asset goes to. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** User identifier. */
  readonly userId: string | null;
  /** Click id. */
  readonly clickId: string | null;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** Payment error code. */
  readonly failReason: string | null;
  /** Card used. */
  readonly cardId: string | null;
  /** Card brand. */
  readonly cardBrand: string | null;
  /** Authentication method of the payment. */
  readonly paymentType: string | null;
  /** Acquirer. */
  readonly processedThrough: string | null;
  /** The partner's fee in USD. */
  readonly partnerFee: string | null;
  /** The partner's fee as a share. */
  readonly partnerFeePercent: string | null;
  /** The service's fee in USD. */
  readonly serviceFee: string | null;
  /** The service's fee as a share. */
  readonly serviceFeePercent: string | null;
  /** Input data of a smart-contract order. */
  readonly scInputData: string | null;
}

/** A reading of an order. */
export interface OrderSnapshotFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "order_snapshot";
  /** What the service said. */
  readonly reading: OrderReading;
}

/** What a reading of the users endpoint says. */
export interface UserReading {
  /** Digest of the exact value. */
  readonly digest: string;
  /** When it was read, UTC ISO 8601. */
  readonly readAt: string;
  /** Country of the verification, ISO alpha-3. */
  readonly country: string | null;
  /** Masked phone number. */
  readonly phone: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phoneCountry: string | null;
  /** State of the light verification. */
  readonly lkyc: string | null;
  /** State of the document verification. */
  readonly fkyc: string | null;
  /** Whether the service banned the user; null when not stated. */
  readonly banned: boolean | null;
  /** Creation time, UTC ISO 8601. */
  readonly createdAt: string | null;
  /** Limits in USD, decimal strings. */
  readonly limits: {
    /** Remaining crypto limit. */
    readonly cryptoRemaining: string | null;
    /** Spent from the crypto limit. */
    readonly cryptoSpending: string | null;
    /** Remaining NFT limit. */
    readonly digitalGoodsRemaining: string | null;
    /** Spent from the NFT limit. */
    readonly digitalGoodsSpending: string | null;
  } | null;
  /** Saved cards, in the service's order. */
  readonly cards: readonly {
    /** Method it belongs to, for example `bank_card`. */
    readonly method: string | null;
    /** Identifier of the card. */
    readonly cardId: string | null;
    /** Brand. */
    readonly brand: string | null;
    /** Last digits of its number. */
    readonly lastDigits: string | null;
    /** When it was saved, UTC ISO 8601. */
    readonly createdAt: string | null;
  }[];
}

/** A reading of a user. */
export interface UserSnapshotFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "user_snapshot";
  /** What the service said. */
  readonly reading: UserReading;
}

/** The service was asked for an order that was not there. */
export interface OrderAbsentFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "order_absent";
  /** When it was asked, UTC ISO 8601. */
  readonly readAt: string;
}

/** The service has not agreed with a claim for ten minutes. */
export interface OrderContradictedFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "order_contradicted";
  /** The claimed status. */
  readonly status: Status;
  /** `recordedAt` of the last claim that this contradicts. */
  readonly upTo: string;
}

/** A session made by this partner. */
export interface SessionFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "session_created";
  /** What the session asked for. */
  readonly asked: SessionAsked;
}

/** What a session asked for; null is unsaid. */
export interface SessionAsked {
  /** Session identifier. */
  readonly sessionId: string;
  /** When the ledger learnt of it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** `simple` or `simple_full_restrict`. */
  readonly flowType: SessionCreatedBody["flow_type"];
  /** The partner's own reference. */
  readonly reference: string | null;
  /** Asset asked for, upper case. */
  readonly commodity: string | null;
  /** Network asked for. */
  readonly network: string | null;
  /** Asset amount asked for, a decimal string. */
  readonly commodityAmount: string | null;
  /** Fiat currency asked for, upper case. */
  readonly currency: string | null;
  /** Fiat amount asked for, a decimal string. */
  readonly currencyAmount: string | null;
  /** Address asked for. */
  readonly walletAddress: string | null;
  /** User asked for. */
  readonly userId: string | null;
}

/** A stored delivery was not answered in time. Folds into nothing. */
export interface UnansweredFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "delivery_unanswered";
  /** `eventId` of the delivery; null when the body is erased or unreadable. */
  readonly deliveryId: string | null;
}

/** An event whose body says nothing any more, or never did. */
export interface UnreadableFact extends FactBase {
  /** Kind of fact. */
  readonly kind: "unreadable";
  /** Why it says nothing, in one sentence. */
  readonly reason: string;
}

/** A recorded event, decoded and normalised. */
export type Fact =
  | WebhookFact
  | OrderSnapshotFact
  | UserSnapshotFact
  | OrderAbsentFact
  | OrderContradictedFact
  | SessionFact
  | UnansweredFact
  | UnreadableFact;
