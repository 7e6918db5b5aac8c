import type { Anomaly } from "./anomaly.ts";

/** How sure the ledger is: a webhook claims, the Data API confirms. */
export type Trust = "claimed" | "confirmed";

/**
 * The status of an order: the documented ones, or one not known here, which
 * ranks above all and is never final.
 */
export type Status =
  | "created"
  | "progress"
  | "pending"
  | "failed"
  | "success"
  | "cancelled"
  | (string & Record<never, never>);

/** Fields that a webhook and a reading of the Data API can both state. */
export interface OrderFacts {
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string as sent. */
  readonly currencyAmount: string | null;
  /** Asset code in upper case. */
  readonly commodity: string | null;
  /** Network; webhooks do not state it. */
  readonly network: string | null;
  /** Amount of the asset, a decimal string as sent. */
  readonly cryptoAmount: string | null;
  /** Address the asset goes to. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** User identifier. */
  readonly userId: string | null;
  /** Click id; the test click id is left out. */
  readonly clickId: string | null;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** Payment error code or text. */
  readonly failReason: string | null;
}

/**
 * What is true of an order, as far as the facts known say. A pure function of
 * the set of events: it holds no counts, no receipt ids, no positions.
 */
export interface OrderState extends OrderFacts {
  /** Order identifier. */
  readonly orderId: string;
  /** Status by the rules of the ledger. */
  readonly status: Status;
  /** Whether `status` is the service's own word. */
  readonly trust: Trust;
  /** Why the status is what it is, in one sentence. */
  readonly reason: string;
  /** Creation time by the service, UTC ISO 8601. */
  readonly createdAt: string | null;
  /** Last change by the service, UTC ISO 8601. */
  readonly changedAt: string | null;
  /** Middle part of the dotted asset, for example `simple` or `sc`. */
  readonly cryptoType: string | null;
  /** Meaning of `failReason` where it is a documented code. */
  readonly failMeaning: string | null;
  /** Card used. */
  readonly cardId: string | null;
  /** Card brand. */
  readonly cardBrand: string | null;
  /** Authentication method of the payment. */
  readonly paymentType: string | null;
  /** Acquirer. */
  readonly processedThrough: string | null;
  /** Fees; amounts are USD decimal strings, percents are shares as sent. */
  readonly fees: {
    readonly partnerFee: string | null;
    readonly partnerFeePercent: string | null;
    readonly serviceFee: string | null;
    readonly serviceFeePercent: string | null;
  };
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
   * What the partner's session asked for: the session that webhooks name; of an
   * order that names none the last one made under its click id before it. Null
   * when none is known, or so many share the click id that it does not tell.
   */
  readonly asked: {
    readonly sessionId: string;
    readonly flowType: string;
    readonly reference: string | null;
    readonly commodity: string | null;
    readonly network: string | null;
    readonly commodityAmount: string | null;
    readonly currency: string | null;
    readonly currencyAmount: string | null;
    readonly walletAddress: string | null;
    readonly userId: string | null;
  } | null;
  /** What is odd about this order, sorted by kind. */
  readonly anomalies: readonly Anomaly[];
}
