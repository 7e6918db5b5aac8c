import type { AnyAssetPair } from "../core/assets/assets.ts";
import { alpha2Countries, usStates } from "../core/rules/countries.ts";
import {
  isClickId,
  isEmail,
  isFullName,
  isPhone,
} from "../core/rules/text_rules.ts";
import { LONGEST_IDENTIFIER } from "../core/wire/objects.ts";
import type { SdkListeners, WidgetListeners } from "./listeners.ts";

type TextRule = (text: string) => boolean;

/**
 * Every option of the widget, under the service's own names: what it takes, and
 * what to use. From it come the types, the checks and their words.
 *
 * Lists are arrays here and become the SDK's JSON text. Amounts are decimal
 * strings, dates are ISO dates, and the origin comes from the environment.
 *
 * Source: service interface, "Widget initialisation", and the README of the
 * official SDK.
 */
export const widgetOptionRows = {
  /** Given at partner registration. It is joined into the widget's path. */
  partner_id: {
    use: "the id you were given",
    form: /^(?!\.{1,2}$)[\w.~-]+$/ as RegExp,
    isRequired: true,
  },
  /** `sessionId` of a session: single use, valid for 30 seconds. */
  session_id: {
    use: "the sessionId that create-session gave",
    form: /^\S+$/ as RegExp,
    isPersonal: true,
    isRequired: true,
  },
  /**
   * Your identifier for reconciliation, made with `clickId()`. Not unique per
   * order: a user can try again in one widget session.
   */
  click_id: {
    use: "clickId(), or letters, digits, .~:@=_- and %20",
    accepts: isClickId as TextRule,
    max: LONGEST_IDENTIFIER as number,
  },
  /** E.164, with or without the plus sign. */
  phone: {
    use: "E.164: a plus sign (may be left out) and 7 to 15 digits",
    accepts: (phone: string): boolean =>
      isPhone(`+${phone.replace(/^\+/, "")}`),
    isPersonal: true,
  },
  /** Where "Back to partner" and links in verification e-mails lead. */
  redirect_url: { is: "webAddress" },
  /** Where users with failed orders find help. */
  support_url: { is: "webAddress" },
  /** What to call when the widget reports something. */
  listeners: { is: "listeners" },
  /** The method to show first, or an ordered list of them. */
  payment_method: {
    oneOf: ["card", "apple-pay", "google-pay", "sepa", "cash-app", "blik"],
    takesSeveral: true,
  },
  /** Whether only `payment_method` is shown. @default {false} */
  payment_method_restriction: { is: "flag" },
  /** The asset the widget opens with: both names or neither. */
  commodity: { is: "default" },
  /** Its network. */
  network: { is: "default" },
  /** The assets on offer. @default {all of them} */
  commodities: { is: "pairs" },
  /** The fiat currencies on offer. @default {all of them} */
  currencies: { is: "currencies" },
  /** Wallets and item, sent to the widget by message once it has loaded. */
  extra: { is: "extra" },
  /** Currency for approximate amounts, shown next to the real ones. */
  display_currency: {
    oneOf: ["AUD", "SGD", "HKD", "THB", "MYR", "VND"],
  },
  /** Whether the fee's parts are hidden. @default {false} */
  hide_fee_breakdown: { is: "flag" },
  /** Wallet address of the user, for the default asset. */
  address: { is: "address" },
  /** Asset amount to pre-fill, a decimal string; loses to `currency_amount`. */
  commodity_amount: { is: "commodityAmount" },
  /** Fiat amount to pre-fill, a decimal string: at least 1, for BTC 30. */
  currency_amount: { is: "currencyAmount" },
  /** Known user, for NFT checkout: a one-time code is sent at once. */
  user_id: {
    use: "the user_id that the service gave",
    form: /^[\w-]+$/ as RegExp,
    max: LONGEST_IDENTIFIER as number,
  },
  /** ISO alpha-2 country code. */
  country_of_residence: {
    use: "an ISO alpha-2 country code",
    codes: alpha2Countries as ReadonlySet<string>,
  },
  /** Alpha-2 state code, for the USA. */
  state_of_residence: {
    use: "the alpha-2 code of a US state",
    codes: usStates as ReadonlySet<string>,
  },
  /**
   * ISO date, `YYYY-MM-DD`. Needs `country_of_residence`, by which the widget
   * wants day and month in one order or the other.
   */
  date_of_birth: { is: "dateOfBirth" },
  /** E-mail address. */
  email: {
    use: "an e-mail address",
    accepts: isEmail as TextRule,
    max: 254,
    isPersonal: true,
  },
  /** First and last name, 3 to 69 characters, in English letters. */
  full_name: {
    use: "first and last name in English letters with a space between",
    accepts: isFullName as TextRule,
    min: 3,
    max: 69,
    isPersonal: true,
  },
  /** Billing country, ISO alpha-2. */
  card_country_code: {
    use: "an ISO alpha-2 country code",
    codes: alpha2Countries as ReadonlySet<string>,
  },
  /** Billing city. */
  card_city: { use: "a city", max: 255, isPersonal: true },
  /** Billing state, alpha-2, for the USA. */
  card_state_code: {
    use: "the alpha-2 code of a US state",
    codes: usStates as ReadonlySet<string>,
  },
  /** Billing postal code. */
  card_post_code: { use: "a postal code", max: 32, isPersonal: true },
  /** Billing street. */
  card_street: { use: "a street", max: 255, isPersonal: true },
  /** Language of the widget. @default {"en"} */
  lang: {
    oneOf: ["en", "fr", "ja", "es", "ko", "zh", "tr", "de", "ka", "th"],
  },
  /** Whether it does not jump to the nearest purchase route. @default {false} */
  skip_init_navigation: { is: "flag" },
  /** Dark theme. @default {light} */
  theme: { oneOf: ["dark"], use: '"dark", or leave it out for light' },
  /** Colour of buttons and the like. */
  brand_color: {
    use: "#RGB or #RRGGBB",
    form: /^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/ as RegExp,
  },
  /** Smart contract to call; needs `sc_input_data` and `signature`. */
  sc_address: { use: "the contract's address", form: /^\S+$/ as RegExp },
  /** Input of the call, in hex. */
  sc_input_data: {
    use: "whole bytes in hex",
    form: /^(0x)?([0-9a-fA-F]{2})+$/ as RegExp,
    max: 65536,
  },
  /** Signature over the call, made on your server. */
  signature: { use: "the signature your server made", form: /^\S+$/ as RegExp },
  /** Whether crypto is not mentioned, for NFT checkout. @default {false} */
  is_crypto_hidden: { is: "flag" },
  /** Whether terms are shown with the payment. @default {false} */
  terms_on_payment: { is: "flag" },
  /** Whether the user is logged out once an order succeeds. @default {false} */
  is_auto_logout_on_order_complete_enabled: { is: "flag" },
  /** Whether a user with another `email` is logged out. @default {false} */
  is_session_expire_on_email_mismatch: { is: "flag" },
} as const;

/** What the widget shows about an item that is bought, one row a text. */
export const itemInfoRows = {
  /** Name. */
  name: { use: "text", max: 40 },
  /** Category. */
  category: { use: "text", max: 40 },
  /** Heading instead of "Buy token". */
  header: { use: "text", max: 255 },
  /** Author's name. */
  author: { use: "text", max: 255 },
  /** Seller's name. */
  seller: { use: "text", max: 255 },
  /** Address of the item's image. */
  image_url: { is: "webAddress" },
  /** Address of the author's picture. */
  author_image_url: { is: "webAddress" },
} as const;

/** What an option of a row takes. */
export type OptionInput<
  Row,
  Pair extends AnyAssetPair,
  Currency extends string,
> = Row extends { oneOf: readonly (infer Value)[]; takesSeveral: true }
  ? Value | readonly Value[]
  : Row extends { oneOf: readonly (infer Value)[] } ? Value
  : Row extends { is: "flag" } ? boolean
  : Row extends { is: "listeners" } ? WidgetListeners
  : Row extends { is: "pairs" } ? readonly Pair[]
  : Row extends { is: "currencies" } ? readonly Currency[]
  : Row extends { is: "extra" } ? ExtraInput<Pair>
  : string;

/** Default wallets, one for each asset, and an item that is bought. */
export interface ExtraInput<Pair extends AnyAssetPair = AnyAssetPair> {
  /** Default wallets. */
  readonly wallets?: readonly (Pair extends AnyAssetPair ? {
      readonly name: Pair["commodity"];
      readonly network: Pair["network"];
      readonly address: string;
    }
    : never)[];
  /** The item (NFT checkout). */
  readonly item_info?: {
    readonly [Name in keyof typeof itemInfoRows]?: string;
  };
}

/** Options that {@linkcode widgetOptions} takes, session included. */
export type WidgetInput<
  Pair extends AnyAssetPair = AnyAssetPair,
  Currency extends string = string,
> = WidgetDraftInput<Pair, Currency> & { readonly session_id: string };

/** {@linkcode WidgetInput} before there is a session. */
export type WidgetDraftInput<
  Pair extends AnyAssetPair = AnyAssetPair,
  Currency extends string = string,
> =
  & { readonly partner_id: string }
  & {
    readonly [
      Name in keyof typeof widgetOptionRows as Exclude<
        Name,
        "partner_id" | "session_id" | keyof AnyAssetPair
      >
    ]?: OptionInput<(typeof widgetOptionRows)[Name], Pair, Currency>;
  }
  & (Pair | { readonly commodity?: never; readonly network?: never });

/** What becomes of an option for the SDK. */
export type OptionOutput<Row> = Row extends { takesSeveral: true }
  ? string | string[]
  : Row extends { is: "flag" } ? true
  : Row extends { is: "commodityAmount" | "currencyAmount" } ? number
  : Row extends { is: "listeners" } ? SdkListeners
  : Row extends { is: "extra" } ? SdkExtra
  : Row extends { oneOf: readonly ["dark"] } ? "dark"
  : string;

/** The SDK's `extra`. */
export interface SdkExtra {
  /** Default wallets. */
  wallets?: { name: string; network: string; address: string }[];
  /** The item that is bought. */
  item_info?: { -readonly [Name in keyof typeof itemInfoRows]?: string };
}

/**
 * Checked options that still lack their session, assignable to the official
 * SDK's `Options`.
 *
 * The SDK counts any value of a boolean option as true, `false` too, so the
 * booleans are either `true` or absent; a number prints as the very decimal
 * that was passed.
 */
export type WidgetDraft =
  & { partner_id: string; origin: string }
  & {
    -readonly [
      Name in keyof typeof widgetOptionRows as Exclude<
        Name,
        "partner_id" | "session_id"
      >
    ]?: OptionOutput<
      (typeof widgetOptionRows)[Name]
    >;
  };

/** Checked options with their session. */
export type WidgetOptions = WidgetDraft & { session_id: string };
