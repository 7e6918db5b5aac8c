import { type AssetRules, checkAssets } from "./_asset_options.ts";
import { isRecord } from "../../core/guards.ts";
import { type Faults, shown, text } from "./_checks.ts";
import { dateOfBirth, optionChecks } from "./_option_checks.ts";
import { extra, extraOptions } from "./_extra_check.ts";
import { listeners } from "./_listeners_check.ts";
import type { WidgetOptions } from "./sdk_options.ts";

/** What decides besides the input itself. */
export interface Rules extends AssetRules {
  readonly origin: string;
  readonly now: number;
  readonly needsSession: boolean;
  readonly extraOptions: Readonly<Record<string, unknown>>;
}

// The partner's id is joined into the widget's path as it is.
const pathSafe = /^(?!\.{1,2}$)[\w.~-]+$/;

const known: ReadonlySet<string> = new Set([
  ...Object.keys(optionChecks),
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
  options: unknown,
  rules: Rules,
  faults: Faults,
): WidgetOptions | undefined {
  if (!isRecord(options)) {
    return faults.add(
      "type",
      "options",
      options,
      `are ${shown(options)}, no object`,
    );
  }
  const extras = extraOptions(rules.extraOptions, faults);
  const input: Record<string, unknown> = Object.fromEntries(
    Object.entries(options).filter(([name]) => !Object.hasOwn(extras, name)),
  );
  const out: Record<string, unknown> = {};
  const set = (name: string, value: unknown): void => {
    if (value !== undefined) out[name] = value;
  };
  set("partner_id", required("partner_id", pathSafe, "the id you were given"));
  if (rules.needsSession) {
    const hint = "the sessionId that create-session gave";
    set("session_id", required("session_id", /^\S+$/, hint));
  } else if (input.session_id !== undefined) {
    const hint = "comes with the session that is asked for at the click";
    faults.add("unknown", "session_id", undefined, hint);
  }
  out.origin = rules.origin;
  for (const [name, check] of Object.entries(optionChecks)) {
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
      : "is no option of the widget; it would be dropped silently, or set " +
        "extraOptions for one that is new";
    faults.add("unknown", name, input[name], hint ?? "");
  }
  return { ...out, ...extras } as unknown as WidgetOptions;

  function required(name: string, form: RegExp, hint: string) {
    if (input[name] !== undefined) {
      return text({ form, hint, isPersonal: name === "session_id" })(
        input[name],
        name,
        faults,
      );
    }
    return faults.add("required", name, undefined, `is missing; use ${hint}`);
  }
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
