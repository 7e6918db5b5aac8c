import { isRecord } from "../../core/guards.ts";
import { type AssetRules, checkAssets, wallet } from "./_asset_options.ts";
import { type Faults, listOf, shown, text, webAddress } from "./_checks.ts";
import { dateOfBirth, optionChecks } from "./_option_checks.ts";
import {
  listenerNames,
  sdkListeners,
  type WidgetListeners,
} from "./listeners.ts";
import type { SdkExtra, SdkListeners, WidgetOptions } from "./sdk_options.ts";

/** What the checks depend on, besides the input itself. */
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
      : "is not an option of the widget; it would be dropped silently, or set " +
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

const itemTexts = ["name", "category", "header", "author", "seller"];
const itemAddresses = ["image_url", "author_image_url"];

/** Checks `extra`, and makes it afresh so that it can be sent by message. */
function extra(
  value: unknown,
  rules: AssetRules,
  faults: Faults,
): SdkExtra | undefined {
  if (!isRecord(value)) {
    const hint = `is ${shown(value)}; use { wallets, item_info }, no string`;
    return faults.add("type", "extra", value, hint);
  }
  const out: SdkExtra = {};
  for (const name of Object.keys(value)) {
    if (["wallets", "item_info"].includes(name)) continue;
    const hint = "is unknown; use wallets and item_info";
    faults.add("unknown", `extra.${name}`, value[name], hint);
  }
  if (value.wallets !== undefined) {
    const check = listOf(wallet(rules), ({ name, network }) => {
      return `${name} ${network}`;
    });
    const wallets = check(value.wallets, "extra.wallets", faults);
    if (wallets !== undefined) out.wallets = wallets;
  }
  if (value.item_info !== undefined) {
    const item = itemInfo(value.item_info, faults);
    if (item !== undefined) out.item_info = item;
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

function itemInfo(
  value: unknown,
  faults: Faults,
): Record<string, string> | undefined {
  const path = "extra.item_info";
  if (!isRecord(value)) {
    return faults.add("type", path, value, `is ${shown(value)}, no object`);
  }
  const out: Record<string, string> = {};
  for (const [name, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    const at = `${path}.${name}`;
    const max = name === "name" || name === "category" ? 40 : 255;
    const check = itemTexts.includes(name)
      ? text({ hint: "text", max })
      : itemAddresses.includes(name)
      ? webAddress
      : null;
    const checked = check?.(entry, at, faults);
    if (checked !== undefined) out[name] = checked;
    if (check !== null) continue;
    const hint = `is unknown; use ${
      [...itemTexts, ...itemAddresses].join(", ")
    }`;
    faults.add("unknown", at, entry, hint);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** What decides who is paid and where the widget opens is never extra. */
const ours = ["partner_id", "session_id", "origin", "listeners", "extra"];

/** Options that are newer than this version: kept as they are. */
function extraOptions(
  given: Readonly<Record<string, unknown>>,
  faults: Faults,
): Readonly<Record<string, unknown>> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const path = `extraOptions.${name}`;
    if (ours.includes(name)) {
      faults.add("conflict", path, value, "cannot be replaced; leave it out");
    } else if (
      value !== true && !Number.isFinite(value) &&
      (typeof value !== "string" || value === "")
    ) {
      const hint = `is ${shown(value)}; use a text, a number or true, which ` +
        "the SDK can pass on";
      faults.add("type", path, value, hint);
    } else kept[name] = value;
  }
  return kept;
}

/** Checks listeners, and puts their parsers before them. */
function listeners(
  value: unknown,
  faults: Faults,
): SdkListeners | undefined {
  if (!isRecord(value)) {
    const hint = `is ${shown(value)}; use an object of functions`;
    return faults.add("type", "listeners", value, hint);
  }
  const before = faults.list.length;
  for (const [name, listener] of Object.entries(value)) {
    const path = `listeners.${name}`;
    if (!(listenerNames as readonly string[]).includes(name)) {
      const hint = `is not an event; use ${listenerNames.join(", ")}`;
      faults.add("unknown", path, listener, hint);
    } else if (listener !== undefined && typeof listener !== "function") {
      faults.add("type", path, listener, `is ${shown(listener)}, no function`);
    }
  }
  if (faults.list.length > before) return undefined;
  return sdkListeners(value as WidgetListeners);
}
