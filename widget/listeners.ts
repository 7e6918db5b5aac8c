import { defined, isRecord } from "../core/guards.ts";

/**
 * Payment statuses that the SDK documents. `failover`: the smart contract was
 * not called, and the asset went to the user's address instead.
 */
export type KnownPaymentStatus =
  | "pending"
  | "canceled"
  | "failed"
  | "success"
  | "failover";

/**
 * What the widget says about a payment: **a hint, never proof**. It comes
 * from the user's own browser, where anyone can forge it, and a status may
 * come twice or not at all. Show it; release goods only on what the ledger
 * has confirmed.
 */
export interface PaymentStatusHint {
  /** Always `hint`: the page cannot confirm anything. */
  readonly trust: "hint";
  /** Status: an open list. */
  readonly status: KnownPaymentStatus | (string & Record<never, never>);
  /** Order, to ask your own server about; null when it is not named. */
  readonly orderId: string | null;
  /** Short order id of dashboard and e-mails; null when it is not named. */
  readonly externalOrderId: string | null;
  /** Payment; null when it is not named. */
  readonly paymentId: string | null;
  /** Transaction hash; null when there is none yet. */
  readonly txId: string | null;
}

/** What went wrong in the widget. */
export interface WidgetErrorEvent {
  /** Kind of error. */
  readonly name: string;
  /** Its text, for a log. */
  readonly message: string;
}

/** Which step of the widget the user is at. */
export interface PositionEvent {
  /** Step: an open list. */
  readonly step: string;
}

/** What a rate consists of, and what the widget calls it. */
export const rateFields = {
  /** Ticker of the rate. */
  ticker: "ticker",
  /** Fee in per cent. */
  feePercent: "fee_percent",
  /** Fee in the fiat currency. */
  feeAmount: "fee_amount",
  /** Amount in the fiat currency. */
  currencyAmount: "currency_amount",
  /** Amount of the asset. */
  commodityAmount: "commodity_amount",
  /** Amount that buys the asset, in the fiat currency. */
  purchaseAmount: "purchase_amount",
  /** Network fee, in the asset. */
  minerFee: "miner_fee",
  /** Network fee, in the fiat currency. */
  currencyMinerFee: "currency_miner_fee",
} as const;

/** A rate, as decimal strings; null where the widget left a value out. */
export type RateUpdateEvent = {
  readonly [Name in keyof typeof rateFields]: string | null;
};

/** A message that does not have the promised form. */
export interface UnreadableWidgetEvent {
  /** Type of the message. */
  readonly type: string;
  /** The message as received. */
  readonly data: unknown;
}

/** What to call when the widget reports something. */
export interface WidgetListeners {
  /** The user, or your own code, closed the widget. */
  readonly close?: () => void;
  /**
   * The widget is ready; called again when 3-D Secure has led away and back.
   */
  readonly loaded?: () => void;
  /** Something went wrong in the widget. */
  readonly error?: (event: WidgetErrorEvent) => void;
  /** The user's browser reports a payment's new status: a hint, never proof. */
  readonly "payment-status"?: (event: PaymentStatusHint) => void;
  /** The user moved to another step. */
  readonly position?: (event: PositionEvent) => void;
  /** The rate changed. */
  readonly "rate-update"?: (event: RateUpdateEvent) => void;
  /** A message to one of the others did not have the promised form. */
  readonly unreadable?: (event: UnreadableWidgetEvent) => void;
}

/** Listeners in the form the SDK calls; each parses before it passes on. */
export type SdkListeners =
  & { [Type in "close" | "loaded"]?: () => void }
  & {
    [Type in "error" | "payment-status" | "position" | "rate-update"]?: (
      data: unknown,
    ) => void;
  };

/** Names of {@linkcode WidgetListeners}. */
export const listenerNames: readonly (keyof WidgetListeners)[] = [
  "close",
  "loaded",
  "error",
  "payment-status",
  "position",
  "rate-update",
  "unreadable",
];

/**
 * Wraps your listeners for the SDK: each parses its payload first, and none
 * throws on a payload that it does not understand.
 *
 * Checked options already do this; use it with the SDK's `addEventListeners`.
 *
 * @param listeners Your listeners.
 * @returns What the SDK is given; `unreadable` is folded into the others.
 *
 * @example Listen to a payment
 * ```ts
 * import { sdkListeners } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const seen: string[] = [];
 * const listeners = sdkListeners({
 *   "payment-status": ({ status, trust }) => seen.push(`${status} (${trust})`),
 * });
 * listeners["payment-status"]?.({ status: "success", order_id: "o-1" });
 * assert.deepEqual(seen, ["success (hint)"]);
 * ```
 */
export function sdkListeners(listeners: WidgetListeners): SdkListeners {
  type Listener = (event?: unknown) => void;
  const given = Object.entries(defined(listeners) as Record<string, Listener>);
  return Object.fromEntries(
    given.filter(([type]) => type !== "unreadable").map(([type, listener]) => [
      type,
      (data: unknown): void => {
        const parse = Reflect.get(PARSERS, type);
        if (parse === undefined) return listener();
        const event = isRecord(data) ? parse(data) : null;
        if (event === null) listeners.unreadable?.({ type, data });
        else listener(event);
      },
    ]),
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads each message; null where it does not have the promised form. */
const PARSERS = {
  error(data: Fields): WidgetErrorEvent | null {
    const [name, message] = [text(data.name), text(data.message)];
    if (name === null && message === null) return null;
    return { name: name ?? "", message: message ?? "" };
  },
  "payment-status"(data: Fields): PaymentStatusHint | null {
    const status = text(data.status);
    return status === null ? null : {
      trust: "hint",
      status,
      orderId: text(data.order_id),
      externalOrderId: text(data.external_order_id),
      paymentId: text(data.payment_id),
      txId: text(data.tx_id),
    };
  },
  position(data: Fields): PositionEvent | null {
    const step = text(data.step);
    return step === null ? null : { step };
  },
  "rate-update"(data: Fields): RateUpdateEvent | null {
    const rate = Object.entries(rateFields)
      .map(([name, field]) => [name, text(data[field])] as const);
    if (rate.every(([, value]) => value === null)) return null;
    return Object.fromEntries(rate) as RateUpdateEvent;
  },
};

// Strings are promised; a number is read as what it prints, since a display
// loses nothing by it. Empty means absent.
function text(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) return `${value}`;
  return typeof value === "string" && value !== "" ? value : null;
}
