import type { Anomaly } from "../anomalies/anomaly.ts";
import type { OrderReason } from "./order_reason.ts";
import type { Status, Trust } from "./status.ts";

/** Whether the goods that an order pays for may be released. */
export type Release = "yes" | "no" | "wait";

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
  /** The reason for the status. */
  readonly reason: OrderReason;
  /**
   * Whether the goods may be released. `yes`: success by the service's own
   * word, never reversed, and what the confirmed session asked for. `no`:
   * another final status by its word. Else `wait`. No webhook changes it once
   * the service shows a final status.
   */
  readonly release: Release;
  /**
   * Creation time as the service states it, UTC ISO 8601. One later than the
   * reading that shows it is an anomaly, and nothing is decided by it.
   */
  readonly createdAt: string | null;
  /** Last change as the service states it, UTC ISO 8601; likewise. */
  readonly changedAt: string | null;
  /** Middle part of the dotted asset, for example `simple` or `sc`. */
  readonly cryptoType: string | null;
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
   * What the partner's session asked for. Candidates are the sessions that were
   * recorded under the click id which the service shows; a webhook that names
   * a session only chooses among them, or stands in where there are none. Null
   * when no session is known, or so many share the click id that it does not
   * tell.
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
  /**
   * How sure it is that `asked` is the order's own session: `confirmed` when it
   * is the only candidate, else `claimed`; null without.
   */
  readonly sessionTrust: Trust | null;
  /** What is odd about this order, sorted by kind. */
  readonly anomalies: readonly Anomaly[];
}
