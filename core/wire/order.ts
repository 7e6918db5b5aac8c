/**
 * The order object of the orders endpoint, as the service sends it.
 *
 * Field names are the service's own. Amounts and fees are decimal strings cut
 * from the source text of the answer: they never pass through a binary float.
 * Every field but `order_id` and `status` may be missing, because the earlier
 * form of the answer lacked many of them and the current form drops some.
 *
 * Source: service interface, "Order (Data API)".
 */
export interface Order {
  /** Unique order identifier. */
  readonly order_id: string;
  /**
   * {@linkcode OrderStatus}, or a status this version does not know; null when
   * the service states none that is a text, as the page's `oddFields` then say.
   */
  readonly status: OrderStatus | (string & Record<never, never>) | null;
  /** Identifier the partner passed to the widget; not unique per order. */
  readonly click_id?: string | null;
  /** Short identifier shown in the dashboard and in e-mails to the customer. */
  readonly external_order_id?: string | null;
  /** Fiat currency of the order, lower case. */
  readonly currency?: string | null;
  /** Order value in `currency`, a decimal string. */
  readonly currency_amount?: string | null;
  /** Asset in dotted form, `<commodity>.<type>.<network>`. */
  readonly crypto?: string | null;
  /** Amount of the asset, a decimal string. */
  readonly crypto_amount?: string | null;
  /** Identifier of the user. */
  readonly user_id?: string | null;
  /** Identifier of the card used. */
  readonly card_id?: string | null;
  /** Creation time, UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly created_at?: string | null;
  /** Time of the last change, UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly changed_at?: string | null;
  /** Blockchain transaction hash; an empty string when there is none. */
  readonly tx_id?: string | null;
  /** Acquirer that processed the card payment. */
  readonly processed_through?: string | null;
  /** Card brand, upper case. */
  readonly card_brand?: string | null;
  /** Payment error code; an empty string when there is none. */
  readonly fail_reason?: string | null;
  /** Authentication method of the payment; an open list. */
  readonly payment_type?: PaymentType | (string & Record<never, never>) | null;
  /** Address the asset goes to. */
  readonly address?: string | null;
  /** The partner's fee in USD whatever the order's currency, a decimal string. */
  readonly partner_fee?: string | null;
  /** The partner's fee as a share of the order, a decimal string. */
  readonly partner_fee_percent?: string | null;
  /** The service's fee in USD whatever the order's currency, a decimal string. */
  readonly service_fee?: string | null;
  /** The service's fee as a share of the order, a decimal string. */
  readonly service_fee_percent?: string | null;
  /** Input data of a smart-contract order. */
  readonly sc_input_data?: string | null;
  /** Whatever the service adds; numbers inside are decimal strings. */
  readonly additional_data?: unknown;
}

/** The documented statuses of an order. Source: service interface, "Order status". */
export const ORDER_STATUSES = [
  "created",
  "progress",
  "pending",
  "success",
  "failed",
  "cancelled",
] as const;

/** A documented order status. */
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** The authentication methods seen on payments. */
export const PAYMENT_TYPES = ["3ds_v2", "non_3ds", "unknown"] as const;

/** An authentication method seen on payments. */
export type PaymentType = (typeof PAYMENT_TYPES)[number];
