import type { KeptOrderField } from "../../core/wire/order_fields.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { ChainReadingFields } from "./chain_reading.ts";
import type { HandOutcome } from "./hand_release.ts";
import type { MatchFact } from "./order_facts.ts";
import type { WitnessRequiredBody } from "./witness_rule.ts";

/** What the body of each kind of event says. */
export interface EventBodies {
  /** The exact bytes received. */
  readonly webhook: Uint8Array;
  /** Exact JSON text of the one order or user, as the service sent it. */
  readonly order_snapshot: string;
  readonly user_snapshot: string;
  readonly order_absent: { readonly order_id: string };
  readonly order_contradicted: {
    readonly order_id: string;
    /** The claimed status that the service does not agree with. */
    readonly status: string;
    /** `recordedAt` of the last claim that this contradicts. */
    readonly up_to: string;
  };
  readonly session_created: SessionCreatedBody;
  readonly order_expected: OrderExpectedBody;
  readonly order_released: OrderReleasedBody;
  readonly chain_reading: ChainReadingBody;
  readonly witness_required: WitnessRequiredBody;
  readonly order_redacted: OrderRedactedBody;
  readonly delivery_unanswered: {
    /** `eventId` of the delivery. */
    readonly event_id: string;
    /** What the sender got instead of a timely 2xx. */
    readonly answer: "late" | "503" | "none";
  };
  readonly month_closed: MonthClosedBody;
  readonly note: object;
  readonly person_erased: object;
}

/** A fact ready to be appended. Everything in it is decided before storage. */
export interface NewEvent {
  /**
   * Minted once, before database or spool: a ULID at receipt, or, for what was
   * read or decided, the time of the reading and a hash of (kind, entity,
   * `readAt`, digest).
   */
  readonly eventId: string;
  /** Kind of fact. */
  readonly kind: EventKind;
  /** Webhook type as sent; null for other kinds and for quarantined bodies. */
  readonly type: string | null;
  /** Order the fact is about; well formed, free of NUL, never empty. */
  readonly orderId: string | null;
  /** User the fact is about; well formed, free of NUL, never empty. */
  readonly userId: string | null;
  /** Click id; well formed, free of NUL, never empty. */
  readonly clickId: string | null;
  /** The service's time if it states one, UTC ISO 8601 ending in `Z`. */
  readonly occurredAt: string | null;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Of readings: the answer's `Date`, else our clock when asking. */
  readonly readAt: string | null;
  /** The exact bytes received. */
  readonly body: Uint8Array;
  /**
   * SHA-256 in lower-case hex: of the bytes (webhooks), or of the canonical
   * exact value (everything else).
   */
  readonly digest: string;
  /** Sixteen random bytes that blind the body's commitment in the chain. */
  readonly salt: Uint8Array;
}

/** A fact as stored. */
export interface RecordedEvent extends NewEvent {
  /** Place in the ledger; ascending, gaps are legal. */
  readonly position: number;
}

/** Body of `session_created`. */
export interface SessionCreatedBody extends ExpectedTerms {
  /** `sessionId` the service returned; webhooks name it `hpp_session_id`. */
  readonly session_id: string;
  /** `requestId` the service returned. */
  readonly request_id?: string;
  /** Click id handed to the widget with this session. */
  readonly click_id?: string;
  /** The partner's own reference, for example a basket id. */
  readonly reference?: string;
  /** `simple` or `simple_full_restrict`. */
  readonly flow_type: string;
  /**
   * What to compare the order with when the session leaves it out or says
   * something else: a smart-contract session, for example, has no amount. A
   * field stated here replaces that of the session.
   */
  readonly expected?: ExpectedTerms;
  /** When it was asked for, UTC ISO 8601, if not when it was recorded. */
  readonly asked_at?: string;
  /** How long it is valid, in milliseconds. @default seven days */
  readonly valid_for_ms?: number;
}

/** What an order is compared with. */
export interface ExpectedTerms {
  /** User who should pay. */
  readonly user_id?: string;
  /** Asset. */
  readonly commodity?: string;
  /** Network. */
  readonly network?: string;
  /** Amount of the asset, a decimal string. */
  readonly commodity_amount?: string;
  /** Fiat currency. */
  readonly currency?: string;
  /** Fiat amount, a decimal string. */
  readonly currency_amount?: string;
  /** Address. */
  readonly wallet_address?: string;
}

/** Body of `order_expected`. */
export interface OrderExpectedBody extends ExpectedTerms {
  /** Id that was minted for it. */
  readonly expectation_id: string;
  /** Click id that the order should have. */
  readonly click_id: string;
  /** The partner's own reference, for example a basket id. */
  readonly reference?: string;
  /** When it was asked for, UTC ISO 8601, if not when it was recorded. */
  readonly asked_at?: string;
  /** How long it is valid, in milliseconds. @default seven days */
  readonly valid_for_ms?: number;
}

/** Body of `order_released`. */
export interface OrderReleasedBody {
  readonly order_id: string;
  readonly outcome: HandOutcome;
  readonly by: string;
  /** Why. It must name no customer, because an erasure keeps it. */
  readonly why: string;
  /**
   * One more than were recorded of the order before. Of two with one turn the
   * first is stored; the second was decided without it.
   */
  readonly turn?: number;
  /** Reference of the purchase that was delivered. */
  readonly for?: string;
  /** Click id of the purchase that was delivered, where it has no reference. */
  readonly for_click_id?: string;
  /** Whether the person confirmed what was asked back. */
  readonly confirmed?: boolean;
}

/** Body of `chain_reading`. */
export interface ChainReadingBody extends ChainReadingFields {
  readonly order_id: string;
}

/**
 * Body of `order_redacted`: the fields of an order that name nobody. It has the
 * times of the event that it replaces, and is folded as that event.
 */
export interface OrderRedactedBody
  extends Readonly<Partial<Record<KeptOrderField, string>>> {
  readonly order_id: string;
  /** Random text in place of the user id. */
  readonly user_id?: string;
  /** Random text in place of the click id. */
  readonly click_id?: string;
  /** Empty where the service stated that there was none; else left out. */
  readonly tx_id?: "";
  /** True where the service named a transaction; else left out. */
  readonly tx_named?: true;
  /** True where it stated one in no form of its network; else left out. */
  readonly tx_unreadable?: true;
  /** How the order compared with what the partner recorded. */
  readonly match?: MatchFact;
  /** Of a look at the chain, what is kept of it. */
  readonly witness?: ChainReadingFields;
  /**
   * The erased event that it replaces; null for a reading that was made after
   * the erasure.
   */
  readonly redacts: RedactedEvent | null;
}

/** The erased event that an `order_redacted` replaces. */
export interface RedactedEvent {
  readonly kind: "order_snapshot" | "webhook" | "chain_reading";
  /** Type of a webhook; null for a reading. */
  readonly type: string | null;
  /** Its id after the erasure. */
  readonly event_id: string;
  /**
   * Its commitment in the evidence chain, 64 hex digits. So the chain proves of
   * which order the erased event is.
   */
  readonly commitment: string;
  /** Which part of it was removed: its body, or also whom it names. */
  readonly part: "body" | "identity";
}

/** Body of `month_closed`. It holds no personal data. */
export interface MonthClosedBody {
  /** The month, `2026-11`. There is one event of it. */
  readonly month: string;
  readonly time_zone: string;
  /** Version of the time zone data; null where the runtime does not say. */
  readonly time_zone_version: string | null;
  /** Which time of an order decided its month. */
  readonly book_by: string;
  /** Position of the last event that was known. */
  readonly position: number;
  /** Events up to that position: what stays the same in an imported ledger. */
  readonly events: number;
  readonly fold_version: number;
  /** The files, byte for byte. */
  readonly files: readonly MonthClosedFile[];
}

/** One file of a closed month. */
export interface MonthClosedFile {
  /** `items.csv`, for example. */
  readonly name: string;
  /** SHA-256 of its bytes in UTF-8, lower-case hex. */
  readonly sha256: string;
  /** Its text. */
  readonly text: string;
}
