/** Languages of the widget; `en` unless stated. */
export const widgetLanguages = [
  "en",
  "fr",
  "ja",
  "es",
  "ko",
  "zh",
  "tr",
  "de",
  "ka",
  "th",
] as const;

/** A language of the widget. */
export type WidgetLanguage = typeof widgetLanguages[number];

/**
 * Payment methods the widget can show first, or alone.
 *
 * Source: service interface, "Widget initialisation"; `blik` is from the
 * SDK's README.
 */
export const paymentMethods = [
  "card",
  "apple-pay",
  "google-pay",
  "sepa",
  "cash-app",
  "blik",
] as const;

/** A payment method. */
export type PaymentMethod = typeof paymentMethods[number];

/** Currencies in which the widget can show approximate amounts. */
export const displayCurrencies = [
  "AUD",
  "SGD",
  "HKD",
  "THB",
  "MYR",
  "VND",
] as const;

/** A currency for approximate amounts. */
export type DisplayCurrency = typeof displayCurrencies[number];
