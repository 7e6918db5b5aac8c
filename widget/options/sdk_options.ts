/**
 * Checked options, assignable to the official SDK's `Options`.
 *
 * The SDK counts any value of a boolean option as true, `false` too, so the
 * booleans are either `true` or absent.
 */
export interface WidgetOptions {
  /** Partner. */
  partner_id: string;
  /** Session. */
  session_id: string;
  /** Origin of the widget in the environment. */
  origin: string;
  /** Click id. */
  click_id?: string;
  /** Phone, E.164. */
  phone?: string;
  /** Way back. */
  redirect_url?: string;
  /** Way to help. */
  support_url?: string;
  /** Listeners, which parse what the widget reports. */
  listeners?: SdkListeners;
  /** JSON text of the assets on offer. */
  commodities?: string;
  /** JSON text of the fiat currencies on offer. */
  currencies?: string;
  /** Sent by message. */
  extra?: SdkExtra;
  /** One payment method, or an ordered list. */
  payment_method?: string | string[];
  /** Whether only `payment_method` is shown. */
  payment_method_restriction?: true;
  /** Currency of approximate amounts. */
  display_currency?: string;
  /** Whether the fee's parts are hidden. */
  hide_fee_breakdown?: true;
  /** Default asset. */
  commodity?: string;
  /** Default network. */
  network?: string;
  /** Wallet address. */
  address?: string;
  /** Asset amount; the number prints as the very decimal that was passed. */
  commodity_amount?: number;
  /** Fiat amount; the number prints as the very decimal that was passed. */
  currency_amount?: number;
  /** Known user. */
  user_id?: string;
  /** Country, alpha-2. */
  country_of_residence?: string;
  /** State, alpha-2. */
  state_of_residence?: string;
  /** `MM/DD/YYYY` for the USA, `DD/MM/YYYY` elsewhere. */
  date_of_birth?: string;
  /** E-mail address. */
  email?: string;
  /** First and last name. */
  full_name?: string;
  /** Billing country. */
  card_country_code?: string;
  /** Billing city. */
  card_city?: string;
  /** Billing state. */
  card_state_code?: string;
  /** Billing postal code. */
  card_post_code?: string;
  /** Billing street. */
  card_street?: string;
  /** Language. */
  lang?: string;
  /** Whether the widget does not jump ahead. */
  skip_init_navigation?: true;
  /** Dark theme. */
  theme?: "dark";
  /** Colour of buttons and the like. */
  brand_color?: string;
  /** Smart contract. */
  sc_address?: string;
  /** Input of the call, in hex. */
  sc_input_data?: string;
  /** Signature over the call. */
  signature?: string;
  /** Whether crypto is not mentioned. */
  is_crypto_hidden?: true;
  /** Whether terms are shown with the payment. */
  terms_on_payment?: true;
  /** Whether the user is logged out after success. */
  is_auto_logout_on_order_complete_enabled?: true;
  /** Whether a user with another e-mail address is logged out. */
  is_session_expire_on_email_mismatch?: true;
}

/** Checked options that still lack their session. */
export type WidgetDraft = Omit<WidgetOptions, "session_id">;

/** The SDK's `extra`, sent to the widget by message. */
export interface SdkExtra {
  /** Default wallets. */
  wallets?: { name: string; network: string; address: string }[];
  /** The item that is bought. */
  item_info?: {
    name?: string;
    category?: string;
    header?: string;
    author?: string;
    seller?: string;
    image_url?: string;
    author_image_url?: string;
  };
}

/** Listeners in the form the SDK calls; each parses before it passes on. */
export interface SdkListeners {
  /** The widget was closed. */
  close?: () => void;
  /** The widget has loaded; may come twice. */
  loaded?: () => void;
  /** Something went wrong in the widget. */
  error?: (data: unknown) => void;
  /** The widget reports a payment's new status. */
  "payment-status"?: (data: unknown) => void;
  /** The user moved to another step. */
  position?: (data: unknown) => void;
  /** The rate changed. */
  "rate-update"?: (data: unknown) => void;
}
