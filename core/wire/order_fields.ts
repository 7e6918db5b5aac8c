import type { Order } from "./order.ts";

/** What the service may send in a field; JSON null is allowed everywhere. */
export type FieldShape = "text" | "identifier" | "decimal";

/**
 * How two values of a field are compared: as they are, without regard to case,
 * as exact decimals, as amounts of the asset, or by the one form of an address
 * or a transaction.
 */
export type FieldRule =
  | "exact"
  | "any_case"
  | "amount"
  | "asset_amount"
  | "address"
  | "transaction";

/** The kinds of anomaly of a field that two sources state differently. */
export type MismatchKind =
  | "amount_mismatch"
  | "asset_mismatch"
  | "user_mismatch"
  | "address_mismatch"
  | "transaction_mismatch";

/** What is known of a field of an order. */
export interface OrderField {
  /** Field of the orders endpoint that it is read from. */
  readonly wire: keyof Order;
  /** What the service may send there. */
  readonly shape: FieldShape;
  /**
   * What an erasure makes of it in a reading: it is kept because it names
   * nobody, it is replaced because it names somebody, or it is gone.
   */
  readonly erasure: "kept" | "replaced" | "gone";
  /** Where a webhook states it; left out where none does. */
  readonly webhook?: {
    /** Names of the objects that hold it, and its own. */
    readonly path: string;
    /** Whether an erasure keeps it of a webhook too. */
    readonly kept?: true;
  };
  /** How two values are compared; left out for what one source alone states. */
  readonly same?: FieldRule;
  /** Field of an expectation that says what it is to be. */
  readonly asked?: string;
  /** Anomaly where it is not what was expected, or what a webhook said. */
  readonly mismatch?: MismatchKind;
  /** Title in what people read; left out for what is shown with another. */
  readonly label?: string;
  /** Column of the order export; left out for what is not exported. */
  readonly column?: string;
  /**
   * Part of an order's state that has it, where a reading alone states it;
   * left out for what webhooks state too.
   */
  readonly part?: "details" | "fees";
}

/** What many rows say alike. */
const KEPT_TEXT = { shape: "text", erasure: "kept" } as const;
const KEPT_DECIMAL = { shape: "decimal", erasure: "kept" } as const;
const GONE_TEXT = { shape: "text", erasure: "gone" } as const;
const REPLACED_ID = { shape: "identifier", erasure: "replaced" } as const;
const GONE_ID = { shape: "identifier", erasure: "gone" } as const;
const DETAIL = { ...GONE_TEXT, part: "details" } as const;
const FEE = { ...KEPT_DECIMAL, part: "fees" } as const;

/**
 * The fields of an order that are texts, by their name in its state: one row is
 * all that is said of a field. What reads, compares, folds, stores, redacts,
 * explains and shows orders goes by these rows. The order of the rows is that of
 * stored folds and of the columns of an export; another order needs another
 * fold version.
 *
 * Source: service interface, "Order (Data API)", and "Order webhooks".
 */
export const ORDER_FIELDS = {
  currency: {
    wire: "currency",
    ...KEPT_TEXT,
    same: "any_case",
    asked: "currency",
    webhook: { path: "order.quote", kept: true },
    mismatch: "amount_mismatch",
    column: "currency",
  },
  currencyAmount: {
    wire: "currency_amount",
    ...KEPT_DECIMAL,
    same: "amount",
    webhook: { path: "order.quote_amount", kept: true },
    asked: "currencyAmount",
    mismatch: "amount_mismatch",
    label: "Amount",
    column: "currency_amount",
  },
  commodity: {
    wire: "crypto",
    ...KEPT_TEXT,
    same: "any_case",
    asked: "commodity",
    webhook: { path: "order.base", kept: true },
    mismatch: "asset_mismatch",
    column: "commodity",
  },
  cryptoType: {
    ...DETAIL,
    wire: "crypto",
    erasure: "kept",
    label: "Asset type",
  },
  network: {
    wire: "crypto",
    ...KEPT_TEXT,
    same: "any_case",
    asked: "network",
    mismatch: "asset_mismatch",
    label: "Network",
    column: "network",
  },
  cryptoAmount: {
    wire: "crypto_amount",
    ...KEPT_DECIMAL,
    same: "asset_amount",
    webhook: { path: "order.base_amount", kept: true },
    asked: "commodityAmount",
    mismatch: "amount_mismatch",
    label: "Asset",
    column: "crypto_amount",
  },
  address: {
    wire: "address",
    ...GONE_TEXT,
    same: "address",
    webhook: { path: "order.address" },
    asked: "walletAddress",
    mismatch: "address_mismatch",
    label: "Address",
    column: "address",
  },
  txId: {
    wire: "tx_id",
    ...GONE_TEXT,
    same: "transaction",
    webhook: { path: "order.transaction_id" },
    mismatch: "transaction_mismatch",
    label: "Transaction",
    column: "tx_id",
  },
  userId: {
    wire: "user_id",
    ...REPLACED_ID,
    same: "exact",
    asked: "userId",
    webhook: { path: "user.user_id" },
    mismatch: "user_mismatch",
    label: "User",
    column: "user_id",
  },
  clickId: {
    wire: "click_id",
    ...REPLACED_ID,
    same: "exact",
    webhook: { path: "click_id" },
    label: "Click id",
    column: "click_id",
  },
  externalOrderId: {
    wire: "external_order_id",
    ...GONE_ID,
    same: "exact",
    webhook: { path: "order.external_order_id" },
    label: "External id",
    column: "external_order_id",
  },
  cardId: { wire: "card_id", ...GONE_ID, label: "Card", part: "details" },
  cardBrand: { wire: "card_brand", ...DETAIL, label: "Card brand" },
  paymentType: { wire: "payment_type", ...DETAIL, label: "Payment type" },
  processedThrough: {
    wire: "processed_through",
    ...DETAIL,
    label: "Processed through",
  },
  partnerFee: {
    wire: "partner_fee",
    ...FEE,
    label: "Partner fee (USD)",
    column: "partner_fee_usd",
  },
  partnerFeePercent: {
    wire: "partner_fee_percent",
    ...FEE,
    label: "Partner fee (share)",
  },
  serviceFee: {
    wire: "service_fee",
    ...FEE,
    label: "Service fee (USD)",
    column: "service_fee_usd",
  },
  serviceFeePercent: {
    wire: "service_fee_percent",
    ...FEE,
    label: "Service fee (share)",
  },
  failReason: {
    wire: "fail_reason",
    ...KEPT_TEXT,
    same: "exact",
    webhook: { path: "order.error_code" },
    label: "Failure",
    column: "fail_reason",
  },
  scInputData: {
    wire: "sc_input_data",
    ...GONE_TEXT,
    label: "Input data",
    webhook: { path: "order.partner_data.sc_input_data" },
  },
} as const satisfies Readonly<Record<string, OrderField>>;

/** The name of a field in an order's state. */
export type OrderFieldName = keyof typeof ORDER_FIELDS;

/** The fields that have a column of the table; of a given value, if one is given. */
export type FieldsWith<
  Column extends keyof OrderField,
  Value = OrderField[Column],
> = {
  [Name in OrderFieldName]: (typeof ORDER_FIELDS)[Name] extends
    Readonly<Record<Column, Value>> ? Name : never;
}[OrderFieldName];

/** The fields of the orders endpoint that the table names. */
export type ListedWireField = (typeof ORDER_FIELDS)[OrderFieldName]["wire"];

/** A row of the table, whichever it is. */
export function orderField(name: OrderFieldName): OrderField {
  return ORDER_FIELDS[name];
}

/** The names of all fields, in the order of the table. */
export const ORDER_FIELD_NAMES = Object.keys(
  ORDER_FIELDS,
) as readonly OrderFieldName[];

/** The names of the fields that have a column of the table. */
export function fieldsWith<
  Column extends keyof OrderField,
  Value extends OrderField[Column] = OrderField[Column],
>(column: Column, value?: Value): readonly FieldsWith<Column, Value>[] {
  return ORDER_FIELD_NAMES.filter((name): name is FieldsWith<Column, Value> => {
    const held = orderField(name)[column];
    return value === undefined ? held !== undefined : held === value;
  });
}

/** The fields of the orders endpoint that an erasure keeps. */
export type KeptOrderField =
  | "status"
  | "created_at"
  | "changed_at"
  | (typeof ORDER_FIELDS)[FieldsWith<"erasure", "kept">]["wire"];

/** The same, in the order in which they are kept. */
export const KEPT_ORDER_FIELDS: readonly KeptOrderField[] = [
  "status",
  "created_at",
  "changed_at",
  ...new Set(
    fieldsWith("erasure", "kept").map((name) => ORDER_FIELDS[name].wire),
  ),
];

/** The fields of a webhook that an erasure keeps, in the order of the table. */
export const KEPT_OF_WEBHOOK: readonly FieldsWith<"webhook">[] = fieldsWith(
  "webhook",
).filter((name) => orderField(name).webhook?.kept === true);
