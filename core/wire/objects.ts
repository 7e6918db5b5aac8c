import { utf8Prefix } from "../bytes.ts";

/**
 * The most bytes of an identifier in UTF-8, which are as many characters of
 * ASCII. The service's own have at most 36, and the widget takes no other click
 * ids than of ASCII; a partner's references have room. A longer one would be
 * stored again in every column, index and state that names it.
 */
export const LONGEST_IDENTIFIER = 256;

/** Whether a text is too long to identify anything. */
export function isLongText(value: unknown): boolean {
  return typeof value === "string" &&
    utf8Prefix(value, LONGEST_IDENTIFIER) !== value;
}

/**
 * Whether a value can be an identifier: a text that is neither empty nor longer
 * than {@linkcode LONGEST_IDENTIFIER} bytes, and that no database would store as
 * another text.
 */
export function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && value !== "" &&
    !isLongText(value) && value.isWellFormed() &&
    !value.includes("\0");
}

/** Longest id that is requested: the service's own have 26 characters. */
const LONGEST = 128;

/**
 * Whether an id can be requested: anybody may post a webhook with any id, and
 * one with a comma would split into two. The service has no other ids.
 */
export function isRequestable(id: string): boolean {
  return id.length <= LONGEST && /^[\x21-\x7e]+$/.test(id) &&
    !id.includes(",");
}

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

/**
 * The user object of the users endpoint, as the service sends it.
 *
 * Every field but `user_id` may be missing. Limits are USD decimal strings.
 *
 * Source: service interface, "User (Data API)".
 */
export interface User {
  /** User identifier. */
  readonly user_id: string;
  /** Country of the verification, ISO alpha-3. */
  readonly country?: string | null;
  /** Masked phone number. */
  readonly phone?: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phone_country?: string | null;
  /** Light verification status; an open list. */
  readonly lkyc_status?: VerificationStatus | null;
  /** Document verification status; an open list. */
  readonly fkyc_status?: VerificationStatus | null;
  /** Whether the service banned the user. */
  readonly banned?: boolean | null;
  /** Creation time, ISO 8601 UTC with fractional seconds. */
  readonly created_at?: string | null;
  /** What the user may still spend, and has spent. */
  readonly limits?: UserLimits | null;
  /** Saved ways to pay. */
  readonly linked_payment_methods?: readonly LinkedPaymentMethod[] | null;
}

/**
 * The verification statuses seen in records and webhooks. `not initiated` and
 * `initiated` are two different states.
 */
export const VERIFICATION_STATUSES = [
  "not initiated",
  "initiated",
  "progress",
  "retry",
  "success",
  "failed",
] as const;

/** A verification status: one of those seen, or one not known here. */
export type VerificationStatus =
  | (typeof VERIFICATION_STATUSES)[number]
  | (string & Record<never, never>);

/** Spending limits of a user: USD, decimal strings. */
export interface UserLimits {
  /** Remaining crypto limit; zero while verification is not a success. */
  readonly crypto_remaining?: string | null;
  /** Spent from the current crypto limits. */
  readonly crypto_spending?: string | null;
  /** Remaining NFT limit; zero while verification is not a success. */
  readonly digital_goods_remaining?: string | null;
  /** Spent from the current NFT limits. */
  readonly digital_goods_spending?: string | null;
}

/** A saved way to pay. */
export interface LinkedPaymentMethod {
  /** Name of the method; `bank_card` is the value seen. */
  readonly method?: string | null;
  /** The saved cards of this method. */
  readonly cards?: readonly LinkedCard[] | null;
}

/** A saved card, without its number. */
export interface LinkedCard {
  /** Brand of the card. */
  readonly brand?: string | null;
  /** Identifier of the card. */
  readonly card_id?: string | null;
  /** When it was saved, ISO 8601 UTC. */
  readonly created_at?: string | null;
  /** Last digits of its number. */
  readonly last_digits?: string | null;
}

/** One page of orders or users, and where it came from. */
export interface Page<T> {
  /** The items that state a usable identifier, in the order of the answer. */
  readonly data: readonly T[];
  /**
   * Exact JSON text of each item, as received: `sources[i]` is the text of
   * `data[i]`. Cut out of the answer when first asked for.
   */
  readonly sources: readonly string[];
  /**
   * Fields that could not be read and are left out of `data`; `sources` still
   * has them. Empty on a page without oddities.
   */
  readonly oddFields: readonly OddFieldOf[];
  /**
   * Exact JSON text of each row that is left out because it states no usable
   * identifier. A walk that meets one is never complete.
   */
  readonly rowsWithoutId: readonly string[];
  /** Cursor of the next page; null when the service states none. */
  readonly nextCursorId: string | null;
  /**
   * How the service pages: `offset` when the answer has no cursor field, as
   * with users and in the earlier form of the orders endpoint.
   */
  readonly pagedBy: "cursor" | "offset";
  /**
   * How many items match, by the service's own count; null when it is missing
   * or is no count. A hint, never the proof that a walk was complete.
   */
  readonly total: number | null;
  /**
   * When this was true, UTC ISO 8601 with milliseconds: the `Date` header of
   * the answer, else our clock when asking.
   */
  readonly readAt: string;
  /** Request identifier the service stated; null when it did not. */
  readonly requestId: string | null;
  /**
   * What stood in the place of `data` on an empty page. Left out where the
   * service sent its rows, or none, as an array.
   */
  readonly withoutData?: "null" | "missing";
}

/**
 * How many rows the service put on a page, those without identifier included.
 */
export function rowsOn(page: Page<unknown>): number {
  return page.data.length + page.rowsWithoutId.length;
}

/**
 * What was found where another kind of value was promised:
 *
 * - `missing`, `null`, `empty`: nothing, where a value must be;
 * - `boolean`, `array`, `object`: a JSON value of that kind;
 * - `text`: a text where a decimal or a boolean was promised;
 * - `nul`: a text with the character NUL in it;
 * - `too_long`: an identifier of more than 256 bytes in UTF-8;
 * - `too_deep`: arrays or objects nested beyond a hundred levels.
 *
 * A number is read as its digits, so it is never odd where a text is promised.
 */
export type OddValue =
  | "missing"
  | "null"
  | "empty"
  | "boolean"
  | "array"
  | "object"
  | "text"
  | "nul"
  | "too_long"
  | "too_deep";

/** A field that could not be read and was left out. */
export interface OddField {
  /** Path of the field by the service's names, such as `limits.crypto_spending`. */
  readonly field: string;
  /** What stood there. */
  readonly value: OddValue;
}

/** An {@linkcode OddField}, and the item it belongs to. */
export interface OddFieldOf extends OddField {
  /** Identifier of the order or user. */
  readonly id: string;
}

/**
 * Which orders to read. Names are the service's own; what is left out does not
 * filter.
 *
 * Source: service interface, "GET /api/external/orders".
 */
export interface OrdersQuery {
  /** Orders on a page, 0 to 20. @default {20} in walks, 10 at the service. */
  readonly limit?: number;
  /** `nextCursorId` of an earlier page. @default {""} the first page. */
  readonly cursor_id?: string;
  /** Orders to skip; the earlier form of paging. @default {0} */
  readonly offset?: number;
  /** Order, click or external order ids, separated by commas or as an array. */
  readonly search_by?: string | readonly string[];
  /** Order by creation time. @default {"desc"} */
  readonly order_by?: "asc" | "desc";
  /** Orders created after this time (exclusive), UTC. */
  readonly start_date?: string | Date;
  /** Orders created up to this time (inclusive), UTC. */
  readonly end_date?: string | Date;
  /** Orders of this status. */
  readonly status?: OrderStatus | (string & Record<never, never>);
  /** Orders of this asset, in dotted form. */
  readonly commodity?: string;
  /** Orders of these users, separated by commas or as an array. */
  readonly user_ids?: string | readonly string[];
  /** Orders paid with this card. */
  readonly card_id?: string;
  /** Orders with this transaction hash. */
  readonly tx_id?: string;
  /** Orders that failed with this payment error code. */
  readonly fail_reason?: string;
  /** Orders paid with this authentication method. */
  readonly payment_type?: PaymentType | (string & Record<never, never>);
}

/**
 * Which users to read. Names are the service's own; what is left out does not
 * filter.
 *
 * Source: service interface, "GET /api/external/users".
 */
export interface UsersQuery {
  /** Users on a page, 0 to 20. @default {20} in walks. */
  readonly limit?: number;
  /** Users to skip. @default {0} */
  readonly offset?: number;
  /** Order by creation time. @default {"desc"} */
  readonly order_by?: "asc" | "desc";
  /** Users created after this time (exclusive), UTC. */
  readonly from?: string | Date;
  /** Users created up to this time (inclusive), UTC. */
  readonly to?: string | Date;
  /** These users, separated by commas or as an array. */
  readonly user_ids?: string | readonly string[];
  /** Users of this light verification status. */
  readonly lkyc_status?: VerificationStatus;
  /** Users of this document verification status. */
  readonly fkyc_status?: VerificationStatus;
  /** Users whose phone is of this country, ISO alpha-2. */
  readonly phone_country?: string;
  /** Users verified in this country, ISO alpha-3. */
  readonly kyc_country?: string;
}

/** A query for a walk, which sets order and offset itself. */
export type UsersWalkQuery = Omit<UsersQuery, "offset" | "order_by">;

/**
 * One delivery as it reached the endpoint; its body has not been read yet.
 * Headers are left out on purpose: they may carry secrets.
 */
export interface Delivery {
  /** ULID minted at receipt; the event keeps it for ever. */
  readonly id: string;
  /** When it arrived, UTC ISO 8601 with milliseconds. */
  readonly receivedAt: string;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
}

/**
 * Stores deliveries for good. Resolves only after the commit that holds
 * `delivery`; the same delivery stored twice is stored once.
 */
export type AppendDelivery = (delivery: Delivery) => Promise<void>;

/** What the sender of a stored delivery got instead of a timely 2xx. */
export interface UnansweredDelivery {
  /** `id` of the delivery. */
  readonly id: string;
  /** When it was noticed, UTC ISO 8601 with milliseconds. */
  readonly noticedAt: string;
  /** What the sender saw. */
  readonly answer: "late" | "503" | "none";
}

/** A statement about a whole walk: what was read, and whether that is all. */
export type Completeness = CompleteWalk | IncompleteWalk;

/** Facts of a walk, complete or not. */
export interface WalkFacts {
  /** Pages read, over all passes. */
  readonly pages: number;
  /** Distinct items seen. */
  readonly items: number;
  /** Passes over the window. */
  readonly passes: number;
  /**
   * Whether each pass was read to its end, and each row said which it is. That
   * nothing else was there to read, though not yet proof that all was seen.
   */
  readonly exhausted: boolean;
  /** The last `total` the service stated; null when it stated none. */
  readonly total: number | null;
  /** Oddities that do not affect the result, for example a wrong `total`. */
  readonly warnings: readonly string[];
}

/**
 * Every item of the window was read, and there is proof of it. Where answers
 * bear no `Date`, our clock stands for the service's: a service whose clock is
 * behind by more than the settling time can then still add items.
 */
export interface CompleteWalk extends WalkFacts {
  /** Marks the proof. */
  readonly complete: true;
}

/** The walk may have missed items. */
export interface IncompleteWalk extends WalkFacts {
  /** Marks that there is no proof. */
  readonly complete: false;
  /** Why there is no proof, as a code with its data. */
  readonly reason: IncompleteReason;
  /** The same in one sentence for people. */
  readonly why: string;
}

/** Why a walk may have missed items, as a code with its data. */
export type IncompleteReason =
  | {
    /**
     * - `not_begun`: the walk has not begun.
     * - `stopped`: its reader stopped before the end.
     * - `begun_in_the_middle`: it does not begin where its window does.
     * - `window_open`: the window has no end, so items appear while walking.
     * - `one_pass`: one pass alone proves nothing.
     */
    readonly code:
      | "not_begun"
      | "stopped"
      | "begun_in_the_middle"
      | "window_open"
      | "one_pass";
  }
  | {
    /**
     * - `cursor_repeated`: the service repeated a cursor after a page.
     * - `items_repeated`: it gave the same items again and again up to a page.
     */
    readonly code: "cursor_repeated" | "items_repeated";
    /** Number of the page, from 1. */
    readonly page: number;
  }
  | {
    /** The service showed rows without a usable identifier. */
    readonly code: "rows_without_id";
    /** How many. */
    readonly rows: number;
  }
  | {
    /**
     * - `filter_changes`: the query filters by what changes while walking.
     * - `filter_unknown`: it filters by what may.
     */
    readonly code: "filter_changes" | "filter_unknown";
    /** Name of the parameter. */
    readonly filter: string;
  }
  | {
    /** The window ends so late that items can still appear in it. */
    readonly code: "window_too_young";
    /** How long after its creation an item may still appear, in ms. */
    readonly settleMs: number;
  }
  | {
    /** The passes saw different items. */
    readonly code: "passes_differ";
    /** Items that each pass saw. */
    readonly seen: readonly number[];
    /** Items that they saw together. */
    readonly together: number;
  };

/** Why a walk may have missed items, in one sentence. */
export function describeIncomplete(reason: IncompleteReason): string {
  switch (reason.code) {
    case "not_begun":
      return "The walk has not begun";
    case "stopped":
      return "The walk was stopped before its end";
    case "begun_in_the_middle":
      return "The walk begins in the middle of its window";
    case "window_open":
      return "The window has no end, so new items can appear while walking";
    case "one_pass":
      return "One pass alone proves nothing";
    case "cursor_repeated":
      return `The service repeated a cursor after page ${reason.page}`;
    case "items_repeated":
      return "The service gave the same items again and again up to page " +
        `${reason.page}`;
    case "rows_without_id":
      return reason.rows === 1
        ? "The service showed a row without a usable identifier"
        : `The service showed ${reason.rows} rows without a usable identifier`;
    case "filter_changes":
      return `The query filters by ${reason.filter}, which changes while walking`;
    case "filter_unknown":
      return `The query filters by ${reason.filter}, which may change while walking`;
    case "window_too_young":
      return `The window ends less than ${reason.settleMs} ms before the ` +
        "service's now, so items can still appear in it";
    case "passes_differ":
      return `The passes differ: they saw ${
        reason.seen.join(", ")
      } items, together ${reason.together}`;
  }
}
