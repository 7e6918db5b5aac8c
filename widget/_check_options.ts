import type { AssetRules } from "./_asset_checks.ts";
import { checkAssets } from "./_asset_options.ts";
import {
  type Check,
  flag,
  isRecord,
  listOf,
  oneOf,
  text,
  webAddress,
} from "./_checks.ts";
import { dateOfBirth } from "./_date_of_birth.ts";
import { extra } from "./_extra_check.ts";
import { type Faults, shown } from "./_faults.ts";
import { listeners } from "./_listeners_check.ts";
import { countryCodes, stateCodes } from "./_regions.ts";
import { displayCurrencies, paymentMethods, widgetLanguages } from "./lists.ts";
import type { WidgetInputFields } from "./options_input.ts";
import type { WidgetOptions } from "./sdk_options.ts";

/** What decides besides the input itself. */
export interface Rules extends AssetRules {
  readonly origin: string;
  readonly now: number;
  readonly needsSession: boolean;
}

type Name = keyof WidgetInputFields | "commodity" | "network";

// The partner's id is joined into the widget's path as it is.
const pathSafe = /^(?!\.{1,2}$)[\w.~-]+$/;

const optionals: Readonly<
  Record<
    Exclude<
      Name,
      | "partner_id"
      | "session_id"
      | "commodity"
      | "network"
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
      form: /^[\w.~:@=-]+$/,
      hint: "clickId(), or letters, digits and .~:@=_-",
    })(value, path, faults);
  },
  phone: text({
    form: /^\+?[1-9]\d{6,14}$/,
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
  }),
  country_of_residence: region(countryCodes, "an ISO alpha-2 country code"),
  state_of_residence: region(stateCodes, "the alpha-2 code of a US state"),
  email: text({
    form: /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/,
    hint: "an e-mail address",
    max: 254,
    isPersonal: true,
  }),
  full_name: text({
    // The SDK's own pattern, which knows English letters only.
    form: /(\w+\s)\w+/,
    hint: "first and last name in English letters with a space between",
    min: 3,
    max: 69,
    isPersonal: true,
  }),
  card_country_code: region(countryCodes, "an ISO alpha-2 country code"),
  card_city: text({ hint: "a city", max: 255, isPersonal: true }),
  card_state_code: region(stateCodes, "the alpha-2 code of a US state"),
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

const known: ReadonlySet<string> = new Set([
  ...Object.keys(optionals),
  ...["partner_id", "session_id", "commodity", "network", "address"],
  ...["commodity_amount", "currency_amount", "date_of_birth", "listeners"],
  ...["extra", "commodities", "currencies"],
]);

const hints: Readonly<Record<string, string>> = {
  origin: "is set from the environment; leave it out",
  wallet_address: "is the session's name for it; use address",
  currency: "belongs to the session; use currencies to limit the choice",
  wallets: "belongs into extra; use extra.wallets",
  item_info: "belongs into extra; use extra.item_info",
  widget_layout_mode: "is set by the SDK; leave it out",
  await_data: "is set by the SDK; leave it out",
  container_id: "is no longer supported; leave it out",
};

/** Checks all options; the result counts only where no fault was added. */
export function checkOptions(
  input: unknown,
  rules: Rules,
  faults: Faults,
): WidgetOptions | undefined {
  if (!isRecord(input)) {
    return faults.add(
      "type",
      "options",
      input,
      `are ${shown(input)}, no object`,
    );
  }
  const out: Record<string, unknown> = {};
  const set = (name: string, value: unknown): void => {
    if (value !== undefined) out[name] = value;
  };
  set("partner_id", required("partner_id", pathSafe, "the id you were given"));
  if (rules.needsSession) {
    const hint = "the sessionId that create-session gave";
    set("session_id", required("session_id", /^[\w.~-]+$/, hint));
  } else if (input.session_id !== undefined) {
    const hint = "comes with the session that is asked for at the click";
    faults.add("unknown", "session_id", undefined, hint);
  }
  out.origin = rules.origin;
  for (const [name, check] of Object.entries(optionals)) {
    if (input[name] !== undefined) set(name, check(input[name], name, faults));
  }
  checkAssets(input, rules, faults, set);
  if (input.date_of_birth !== undefined) {
    const country = typeof input.country_of_residence === "string"
      ? input.country_of_residence
      : undefined;
    const { date_of_birth } = input;
    set(
      "date_of_birth",
      dateOfBirth(date_of_birth, country, rules.now, faults),
    );
  }
  if (input.listeners !== undefined) {
    set("listeners", listeners(input.listeners, faults));
  }
  if (input.extra !== undefined) {
    set("extra", extra(input.extra, rules, faults));
  }
  checkTogether(input, faults);
  for (const name of Object.keys(input)) {
    if (known.has(name)) continue;
    const hint = Object.hasOwn(hints, name)
      ? hints[name]
      : "is no option of the widget; it would be dropped silently";
    faults.add("unknown", name, input[name], hint ?? "");
  }
  return out as unknown as WidgetOptions;

  function required(name: string, form: RegExp, hint: string) {
    if (isRecord(input) && input[name] !== undefined) {
      return text({ form, hint, isPersonal: name === "session_id" })(
        input[name],
        name,
        faults,
      );
    }
    return faults.add("required", name, undefined, `is missing; use ${hint}`);
  }
}

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

function checkTogether(
  input: Readonly<Record<string, unknown>>,
  faults: Faults,
): void {
  if (
    input.payment_method_restriction === true &&
    input.payment_method === undefined
  ) {
    const hint = "needs payment_method, or nothing is restricted";
    faults.add("conflict", "payment_method_restriction", true, hint);
  }
  const contract = ["sc_address", "sc_input_data", "signature"];
  const missing = contract.filter((name) => input[name] === undefined);
  if (missing.length > 0 && missing.length < contract.length) {
    for (const name of missing) {
      const hint = `is missing; a smart contract needs ${contract.join(", ")}`;
      faults.add("required", name, undefined, hint);
    }
  }
}
