import type { FieldShape } from "./order_fields.ts";
import type { LinkedCard, User, UserLimits } from "./user.ts";

/** What is known of a field of a user. */
export interface UserField<Wire> {
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

/** What a user may still spend and has spent, in the manner of the fields. */
export const LIMIT_FIELDS = {
  cryptoRemaining: { wire: "crypto_remaining", shape: "decimal" },
  cryptoSpending: { wire: "crypto_spending", shape: "decimal" },
  digitalGoodsRemaining: { wire: "digital_goods_remaining", shape: "decimal" },
  digitalGoodsSpending: { wire: "digital_goods_spending", shape: "decimal" },
} as const satisfies Readonly<Record<string, UserField<UserLimits>>>;

/** A saved card, in the manner of the fields; its method comes before. */
export const CARD_FIELDS = {
  cardId: { wire: "card_id", shape: "identifier" },
  brand: { wire: "brand", shape: "text" },
  lastDigits: { wire: "last_digits", shape: "text" },
  createdAt: { wire: "created_at", shape: "text", form: "time" },
} as const satisfies Readonly<Record<string, UserField<LinkedCard>>>;

/** Any of the three tables. */
export type UserFieldTable = Readonly<
  Record<string, {
    readonly wire: string;
    readonly shape: FieldShape | "boolean";
    readonly form?: "upper" | "time";
  }>
>;

/** What the users endpoint may send, by its own names. */
export function userShapes<Table extends UserFieldTable>(
  table: Table,
): Readonly<Record<Table[keyof Table]["wire"], FieldShape | "boolean">> {
  return Object.fromEntries(
    Object.values(table).map(({ wire, shape }) => [wire, shape]),
  ) as Record<Table[keyof Table]["wire"], FieldShape | "boolean">;
}
