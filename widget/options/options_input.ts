import type { AnyAssetPair } from "./asset_pair.ts";
import type { WidgetListeners } from "./listeners.ts";
import type {
  DisplayCurrency,
  PaymentMethod,
  WidgetLanguage,
} from "./lists.ts";

/**
 * Options of the widget, under the service's own names.
 *
 * Lists are arrays here and become the SDK's JSON text. Amounts are decimal
 * strings, dates are ISO dates, and the origin comes from the environment.
 *
 * Source: service interface, "Widget initialisation", and the README of the
 * official SDK.
 */
export type WidgetInput<
  Pair extends AnyAssetPair = AnyAssetPair,
  Currency extends string = string,
> = WidgetInputFields<Pair, Currency> & DefaultAsset<Pair>;

/** {@linkcode WidgetInput} before there is a session. */
export type WidgetDraftInput<
  Pair extends AnyAssetPair = AnyAssetPair,
  Currency extends string = string,
> =
  & Omit<WidgetInputFields<Pair, Currency>, "session_id">
  & DefaultAsset<Pair>;

/** The asset the widget opens with: both names or neither. */
export type DefaultAsset<Pair extends AnyAssetPair = AnyAssetPair> =
  | Pair
  | { readonly commodity?: never; readonly network?: never };

/** A default wallet for an asset the user may change to. */
export type WalletInput<Pair extends AnyAssetPair = AnyAssetPair> = Pair extends
  AnyAssetPair ? {
    /** Asset code. */
    readonly name: Pair["commodity"];
    /** Network of the wallet. */
    readonly network: Pair["network"];
    /** Address of the wallet. */
    readonly address: string;
  }
  : never;

/** What the widget shows about an item that is bought (NFT checkout). */
export interface ItemInfo {
  /** Name; at most 40 characters. */
  readonly name?: string;
  /** Category; at most 40 characters. */
  readonly category?: string;
  /** Heading instead of "Buy token". */
  readonly header?: string;
  /** Author's name. */
  readonly author?: string;
  /** Seller's name. */
  readonly seller?: string;
  /** Address of the item's image. */
  readonly image_url?: string;
  /** Address of the author's picture. */
  readonly author_image_url?: string;
}

/** Every option but the default asset. */
export interface WidgetInputFields<
  Pair extends AnyAssetPair = AnyAssetPair,
  Currency extends string = string,
> {
  /** Given at partner registration. */
  readonly partner_id: string;
  /** `sessionId` of a session: single use, valid for 30 seconds. */
  readonly session_id: string;
  /**
   * Your identifier for reconciliation, made with {@linkcode clickId}. Not
   * unique per order: a user can try again in one widget session.
   */
  readonly click_id?: string;
  /** E.164, with or without the plus sign. */
  readonly phone?: string;
  /** Where "Back to partner" and links in verification e-mails lead. */
  readonly redirect_url?: string;
  /** Where users with failed orders find help. */
  readonly support_url?: string;
  /** What to call when the widget reports something. */
  readonly listeners?: WidgetListeners;
  /** The assets on offer; all of them unless stated. */
  readonly commodities?: readonly Pair[];
  /** The fiat currencies on offer; all of them unless stated. */
  readonly currencies?: readonly Currency[];
  /** Wallets and item, sent to the widget by message once it has loaded. */
  readonly extra?: {
    /** Default wallets, one for each asset. */
    readonly wallets?: readonly WalletInput<Pair>[];
    /** The item that is bought (NFT checkout). */
    readonly item_info?: ItemInfo;
  };
  /** The method to show first, or an ordered list of them. */
  readonly payment_method?: PaymentMethod | readonly PaymentMethod[];
  /**
   * Whether only `payment_method` is shown.
   *
   * @default {false}
   */
  readonly payment_method_restriction?: boolean;
  /** Currency for approximate amounts, shown next to the real ones. */
  readonly display_currency?: DisplayCurrency;
  /**
   * Whether the fee's parts are hidden and only its value shown.
   *
   * @default {false}
   */
  readonly hide_fee_breakdown?: boolean;
  /** Wallet address of the user, for the default asset. */
  readonly address?: string;
  /** Asset amount to pre-fill, a decimal string; loses to `currency_amount`. */
  readonly commodity_amount?: string;
  /** Fiat amount to pre-fill, a decimal string: at least 1, for BTC 30. */
  readonly currency_amount?: string;
  /** Known user, for NFT checkout: a one-time code is sent at once. */
  readonly user_id?: string;
  /** ISO alpha-2 country code. */
  readonly country_of_residence?: string;
  /** Alpha-2 state code, for the USA. */
  readonly state_of_residence?: string;
  /**
   * ISO date, `YYYY-MM-DD`. Needs `country_of_residence`, by which the widget
   * wants day and month in one order or the other.
   */
  readonly date_of_birth?: string;
  /** E-mail address. */
  readonly email?: string;
  /** First and last name, 3 to 69 characters, in English letters. */
  readonly full_name?: string;
  /** Billing country, ISO alpha-2. */
  readonly card_country_code?: string;
  /** Billing city. */
  readonly card_city?: string;
  /** Billing state, alpha-2, for the USA. */
  readonly card_state_code?: string;
  /** Billing postal code. */
  readonly card_post_code?: string;
  /** Billing street. */
  readonly card_street?: string;
  /**
   * Language of the widget.
   *
   * @default {"en"}
   */
  readonly lang?: WidgetLanguage;
  /**
   * Whether the widget does not jump to the nearest purchase route.
   *
   * @default {false}
   */
  readonly skip_init_navigation?: boolean;
  /** Dark theme; light unless stated. */
  readonly theme?: "dark";
  /** Colour of buttons and the like: `#RGB` or `#RRGGBB`. */
  readonly brand_color?: string;
  /** Smart contract to call; needs `sc_input_data` and `signature`. */
  readonly sc_address?: string;
  /** Input of the call, in hex. */
  readonly sc_input_data?: string;
  /** Signature over the call, made on your server. */
  readonly signature?: string;
  /**
   * Whether crypto is not mentioned, for NFT checkout where enabled.
   *
   * @default {false}
   */
  readonly is_crypto_hidden?: boolean;
  /**
   * Whether terms are shown with the payment, as the SDK's types allow.
   *
   * @default {false}
   */
  readonly terms_on_payment?: boolean;
  /**
   * Whether the user is logged out once an order succeeds.
   *
   * @default {false}
   */
  readonly is_auto_logout_on_order_complete_enabled?: boolean;
  /**
   * Whether a user logged in with another `email` is logged out.
   *
   * @default {false}
   */
  readonly is_session_expire_on_email_mismatch?: boolean;
}
