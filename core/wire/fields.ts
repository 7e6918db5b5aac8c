import type {
  LinkedCard,
  LinkedPaymentMethod,
  OddField,
  OddValue,
  Order,
  User,
  UserLimits,
} from "./objects.ts";
import { isLongText } from "./objects.ts";
import { isDeeperThan, isRecord } from "../guards.ts";

/** What the service may send in a field; JSON null is allowed everywhere. */
type FieldShape = "text" | "identifier" | "decimal";

/**
 * How two values of a field are compared: as they are, without regard to case,
 * as exact decimals, as amounts of the asset, or by the one form of an address
 * or a transaction.
 */
type FieldRule =
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
interface OrderField {
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
type ListedWireField = (typeof ORDER_FIELDS)[OrderFieldName]["wire"];

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

/** What is known of a field of a user. */
interface UserField<Wire> {
  /** Field of the users endpoint that it is read from. */
  readonly wire: keyof Wire;
  /** What the service may send there; JSON null is allowed everywhere. */
  readonly shape: FieldShape | "boolean";
  /**
   * How it is read: as it is, in capitals, or as a time.
   *
   * @default as it is
   */
  readonly form?: "upper" | "time";
  /** Where a webhook states it too. */
  readonly webhook?: "lkyc" | "fkyc";
  /** Title in what people read; left out for what is shown with another. */
  readonly label?: string;
}

/**
 * The fields of a user, by their name in what is known of the user: one row is
 * all that is said of a field. What reads, folds and shows users goes by these
 * rows. Their order is that of stored folds and of what is printed; another
 * order needs another fold version. An erasure keeps none of them, and no export
 * has a column for one.
 *
 * Source: service interface, "User (Data API)".
 */
export const USER_FIELDS = {
  country: { wire: "country", shape: "text", form: "upper", label: "Country" },
  phone: { wire: "phone", shape: "text", label: "Phone" },
  phoneCountry: { wire: "phone_country", shape: "text", form: "upper" },
  lkyc: {
    wire: "lkyc_status",
    shape: "text",
    webhook: "lkyc",
    label: "Light KYC",
  },
  fkyc: {
    wire: "fkyc_status",
    shape: "text",
    webhook: "fkyc",
    label: "Full KYC",
  },
  banned: { wire: "banned", shape: "boolean", label: "Banned" },
  createdAt: {
    wire: "created_at",
    shape: "text",
    form: "time",
    label: "Created",
  },
} as const satisfies Readonly<Record<string, UserField<User>>>;

type LimitField = UserField<UserLimits>;
type CardField = UserField<LinkedCard>;

/** What a user may still spend and has spent, in the manner of the fields. */
export const LIMIT_FIELDS = {
  cryptoRemaining: { wire: "crypto_remaining", shape: "decimal" },
  cryptoSpending: { wire: "crypto_spending", shape: "decimal" },
  digitalGoodsRemaining: { wire: "digital_goods_remaining", shape: "decimal" },
  digitalGoodsSpending: { wire: "digital_goods_spending", shape: "decimal" },
} as const satisfies Readonly<Record<string, LimitField>>;

/** A saved card, in the manner of the fields; its method comes before. */
export const CARD_FIELDS = {
  cardId: { wire: "card_id", shape: "identifier" },
  brand: { wire: "brand", shape: "text" },
  lastDigits: { wire: "last_digits", shape: "text" },
  createdAt: { wire: "created_at", shape: "text", form: "time" },
} as const satisfies Readonly<Record<string, CardField>>;

/** Any of the three tables. */
export type UserFieldTable = Readonly<
  Record<string, {
    readonly wire: string;
    readonly shape: FieldShape | "boolean";
    readonly form?: "upper" | "time";
  }>
>;

/** What the users endpoint may send, by its own names. */
function userShapes<Table extends UserFieldTable>(
  table: Table,
): Readonly<Record<Table[keyof Table]["wire"], FieldShape | "boolean">> {
  return Object.fromEntries(
    Object.values(table).map(({ wire, shape }) => [wire, shape]),
  ) as Record<Table[keyof Table]["wire"], FieldShape | "boolean">;
}

/** What a field of a row may hold; JSON null is allowed everywhere. */
type Shape =
  | FieldShape
  | "boolean"
  | { readonly fields: Shapes }
  | { readonly each: Shape };
type Shapes = Readonly<Record<string, Shape>>;
type ShapesOf<T> = Readonly<Record<keyof T, Shape>>;
type Row = Readonly<Record<string, unknown>>;

const ORDER_SHAPES = {
  status: "text",
  created_at: "text",
  changed_at: "text",
  ...Object.fromEntries(
    ORDER_FIELD_NAMES.map(orderField).map(({ wire, shape }) => [wire, shape]),
  ) as Readonly<Record<ListedWireField, FieldShape>>,
} satisfies ShapesOf<Omit<Order, "order_id" | "additional_data">>;

const cards = userShapes(CARD_FIELDS) satisfies ShapesOf<LinkedCard>;
const methods = {
  method: "text",
  cards: { each: { fields: cards } },
} as const satisfies ShapesOf<LinkedPaymentMethod>;
const USER_SHAPES = {
  ...userShapes(USER_FIELDS),
  limits: { fields: userShapes(LIMIT_FIELDS) satisfies ShapesOf<UserLimits> },
  linked_payment_methods: { each: { fields: methods } },
} satisfies ShapesOf<Omit<User, "user_id">>;

/** The most characters of an amount; a longer text is not calculated with. */
const LONGEST_DECIMAL = 200;
/** An amount may be empty, which is how the service says that there is none. */
const DECIMAL = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)?$/;
/** The most odd fields reported of one row, and the longest name reported. */
const MOST_ODD_FIELDS = 20;
const LONGEST_NAME = 100;

/** A row, field by field. */
export interface RowRead<T> {
  /** The row without what could not be read; the row itself where all could. */
  readonly row: T;
  /** The fields that were left out. */
  readonly odd: readonly OddField[];
}

/**
 * Reads an order of the orders endpoint field by field: sound fields are kept,
 * the others are left out and reported. A status that cannot be read is null.
 * Unknown fields are kept.
 */
export function readOrderRow(row: Row): RowRead<Omit<Order, "order_id">> {
  const odd: OddField[] = [];
  const sound = soundFields(row, ORDER_SHAPES, "", odd);
  const { status: stated } = row;
  if (!stated && stated !== false) {
    odd.push({
      field: "status",
      value: stated === "" ? "empty" : stated === null ? "null" : "missing",
    });
  }
  return reported(sound.status ? sound : { ...sound, status: null }, odd);
}

/**
 * Reads a user of the users endpoint field by field, in the way of
 * {@linkcode readOrderRow}.
 */
export function readUserRow(row: Row): RowRead<Omit<User, "user_id">> {
  const odd: OddField[] = [];
  return reported(soundFields(row, USER_SHAPES, "", odd), odd);
}

/** The sound fields: what was given where all are. */
function soundFields(
  row: Row,
  shapes: Shapes,
  path: string,
  odd: OddField[],
): Row {
  let changed: Map<string, unknown> | undefined;
  for (const name of Object.keys(row)) {
    const value = row[name];
    const sound = path === "" && isDeeperThan(value)
      ? leaveOut(name, "too_deep", odd)
      : Object.hasOwn(shapes, name)
      ? soundPart(value, shapes[name], path + name, odd)
      : value;
    if (sound !== value) (changed ??= new Map()).set(name, sound);
  }
  if (changed === undefined) return row;
  return Object.fromEntries(
    Object.entries({ ...row, ...Object.fromEntries(changed) })
      .filter(([, value]) => value !== undefined),
  );
}

/** The sound part of a value; undefined when it has to be left out. */
function soundPart(
  value: unknown,
  shape: Shape | undefined,
  path: string,
  odd: OddField[],
): unknown {
  if (value === null || shape === undefined) return value;
  if (typeof shape === "string") {
    const wrong = shape === "boolean"
      ? typeof value !== "boolean" && kindOf(value)
      : wrongText(value, shape);
    return wrong ? leaveOut(path, wrong, odd) : value;
  }
  if ("fields" in shape) {
    return isRecord(value)
      ? soundFields(value, shape.fields, `${path}.`, odd)
      : leaveOut(path, kindOf(value), odd);
  }
  if (!Array.isArray(value)) return leaveOut(path, kindOf(value), odd);
  const items = value.map((item, at) =>
    item === null
      ? leaveOut(`${path}.${at}`, "null", odd)
      : soundPart(item, shape.each, `${path}.${at}`, odd)
  );
  return items.every((item, at) => item === value[at])
    ? value
    : items.filter((item) => item !== undefined);
}

function wrongText(value: unknown, shape: FieldShape): OddValue | false {
  if (typeof value !== "string" || value.includes("\0")) return kindOf(value);
  if (shape === "identifier") return isLongText(value) && "too_long";
  return shape === "decimal" &&
    (value.length > LONGEST_DECIMAL || !DECIMAL.test(value)) && "text";
}

function leaveOut(field: string, value: OddValue, odd: OddField[]): undefined {
  odd.push({ field, value });
}

function kindOf(value: unknown): OddValue {
  if (typeof value === "string") return value.includes("\0") ? "nul" : "text";
  if (typeof value === "boolean") return "boolean";
  return Array.isArray(value) ? "array" : "object";
}

/** Limits the size of what is reported of a row. */
function reported<T>(row: Row, odd: readonly OddField[]): RowRead<T> {
  const listed = odd.slice(0, MOST_ODD_FIELDS).map(({ field, value }) => ({
    field: field.slice(0, LONGEST_NAME).toWellFormed().replaceAll("\0", ""),
    value,
  }));
  listed.sort((a, b) => a.field < b.field ? -1 : a.field > b.field ? 1 : 0);
  return { row: row as T, odd: listed };
}
