import { LONGEST_IDENTIFIER } from "../../core/wire/identifier.ts";
import {
  isClickId,
  isEmail,
  isFullName,
  isPhone,
} from "../../core/rules/text_rules.ts";
import { alpha2Countries, usStates } from "../../core/rules/countries.ts";
import {
  type Check,
  type Faults,
  flag,
  listOf,
  oneOf,
  shown,
  text,
  webAddress,
} from "./_checks.ts";
import { displayCurrencies, paymentMethods, widgetLanguages } from "./lists.ts";
import type { WidgetInputFields } from "./options_input.ts";
import { isCalendarDate } from "../../core/time/service_time.ts";

/** Checks of the options that do not depend on other options. */
export const optionChecks: Readonly<
  Record<
    Exclude<
      keyof WidgetInputFields,
      | "partner_id"
      | "session_id"
      | "address"
      | "commodity_amount"
      | "currency_amount"
      | "date_of_birth"
      | "listeners"
      | "extra"
      | "commodities"
      | "currencies"
    >,
    Check<unknown>
  >
> = {
  click_id: (value, path, faults) => {
    if (value === "test_click_id") {
      const hint = 'is "test_click_id", the test event\'s own; use clickId()';
      return faults.add("unavailable", path, value, hint);
    }
    return text({
      accepts: isClickId,
      hint: "clickId(), or letters, digits, .~:@=_- and %20",
      max: LONGEST_IDENTIFIER,
    })(value, path, faults);
  },
  phone: text({
    // The widget takes a phone number without its plus sign too.
    accepts: (phone) => isPhone(phone.startsWith("+") ? phone : `+${phone}`),
    hint: "E.164: a plus sign (may be left out) and 7 to 15 digits",
    isPersonal: true,
  }),
  redirect_url: webAddress,
  support_url: webAddress,
  payment_method: (value, path, faults) => {
    const method = oneOf(paymentMethods);
    return Array.isArray(value)
      ? listOf(method, (name) => name)(value, path, faults)
      : method(value, path, faults);
  },
  payment_method_restriction: flag,
  display_currency: oneOf(displayCurrencies),
  hide_fee_breakdown: flag,
  user_id: text({
    form: /^[\w-]+$/,
    hint: "the user_id that the service gave",
    max: LONGEST_IDENTIFIER,
  }),
  country_of_residence: region(alpha2Countries, "an ISO alpha-2 country code"),
  state_of_residence: region(usStates, "the alpha-2 code of a US state"),
  email: text({
    accepts: isEmail,
    hint: "an e-mail address",
    max: 254,
    isPersonal: true,
  }),
  full_name: text({
    accepts: isFullName,
    hint: "first and last name in English letters with a space between",
    min: 3,
    max: 69,
    isPersonal: true,
  }),
  card_country_code: region(alpha2Countries, "an ISO alpha-2 country code"),
  card_city: text({ hint: "a city", max: 255, isPersonal: true }),
  card_state_code: region(usStates, "the alpha-2 code of a US state"),
  card_post_code: text({ hint: "a postal code", max: 32, isPersonal: true }),
  card_street: text({ hint: "a street", max: 255, isPersonal: true }),
  lang: oneOf(widgetLanguages),
  skip_init_navigation: flag,
  theme: (value, path, faults) => {
    if (value === "dark") return value;
    const hint = `is ${shown(value)}; use "dark", or leave it out for light`;
    return faults.add("unlisted", path, value, hint);
  },
  brand_color: text({
    form: /^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/,
    hint: "#RGB or #RRGGBB",
  }),
  sc_address: text({ form: /^\S+$/, hint: "the contract's address" }),
  sc_input_data: text({
    form: /^(0x)?([0-9a-fA-F]{2})+$/,
    hint: "whole bytes in hex",
    max: 65536,
  }),
  signature: text({ form: /^\S+$/, hint: "the signature your server made" }),
  is_crypto_hidden: flag,
  terms_on_payment: flag,
  is_auto_logout_on_order_complete_enabled: flag,
  is_session_expire_on_email_mismatch: flag,
};

function region(codes: ReadonlySet<string>, hint: string): Check<string> {
  return (value, path, faults) => {
    if (typeof value === "string" && codes.has(value)) return value;
    const code = typeof value === "string" ? "unlisted" : "type";
    const upper = typeof value === "string" && codes.has(value.toUpperCase())
      ? ", in capital letters"
      : "";
    const is = `is ${shown(value)}; use ${hint}${upper}`;
    return faults.add(code, path, value, is);
  };
}

/**
 * Turns an ISO date into the country's order of day and month, which is all
 * the widget has to tell 3 April from 4 March.
 */
export function dateOfBirth(
  value: unknown,
  country: string | undefined,
  now: number,
  faults: Faults,
): string | undefined {
  const path = "date_of_birth";
  const match = typeof value === "string"
    ? /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)
    : null;
  if (match === null || !isCalendarDate(match[0])) {
    const hint = "is no ISO date; use YYYY-MM-DD, a day that exists";
    return faults.add("format", path, value, hint);
  }
  const [, year, month, day] = match;
  if (Date.parse(match[0]) > now || Number(year) < 1900) {
    const hint = "is not between 1900 and today";
    return faults.add("range", path, value, hint);
  }
  if (country === undefined) {
    const hint = "needs country_of_residence, which decides the order of day " +
      "and month";
    return faults.add("conflict", path, value, hint);
  }
  return country === "US"
    ? `${month}/${day}/${year}`
    : `${day}/${month}/${year}`;
}
