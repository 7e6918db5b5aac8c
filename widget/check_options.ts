import {
  type AnyAssetPair,
  type Asset,
  assets,
  findAsset,
  networksOf,
} from "../core/assets/assets.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { defined, isRecord } from "../core/guards.ts";
import {
  defaultCommodity,
  FIAT_CURRENCIES,
  FIAT_DECIMALS,
  minimumAmount,
} from "../core/rules/session_limits.ts";
import { hasWalletShape } from "../core/rules/wallet_shape.ts";
import { isCalendarDate } from "../core/time/service_time.ts";
import {
  listenerNames,
  sdkListeners,
  type WidgetListeners,
} from "./listeners.ts";
import { itemInfoRows, widgetOptionRows } from "./option_rows.ts";

/**
 * What is wrong with an option.
 *
 * - `required`: it is missing, or empty.
 * - `type`: it is of another type, for example `"false"` for `false`.
 * - `format`: it is of the right type, but not of the right form.
 * - `length`, `range`: too short, too long, too small, too precise.
 * - `unlisted`: the pair of commodity and network is not in the environment's
 *   asset table, or the value is not one of a documented list.
 * - `unavailable`: listed, but not in this environment or for this purpose.
 * - `duplicate`: it is named twice.
 * - `conflict`: it contradicts another option, or lacks one it needs.
 * - `inexact`: the SDK takes a number here, and no number holds the amount.
 * - `unknown`: there is no such option; it would be dropped silently.
 */
export type WidgetFaultCode =
  | "required"
  | "type"
  | "format"
  | "length"
  | "range"
  | "unlisted"
  | "unavailable"
  | "duplicate"
  | "conflict"
  | "inexact"
  | "unknown";

/** One fault of the options. */
export interface WidgetFault {
  /** Kind of fault. */
  readonly code: WidgetFaultCode;
  /** Where, for example `extra.wallets[1].network`. */
  readonly path: string;
  /** The value that was passed. */
  readonly value: unknown;
  /** What is wrong and what to do, without personal data. */
  readonly message: string;
}

/** What the checks depend on, besides the input itself. */
export interface Rules {
  readonly table: AssetTable;
  readonly allowsUnlisted: boolean;
  readonly now: number;
  readonly needsSession: boolean;
  readonly extraOptions: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

/** A row as the checks read it; one without `is`, list or codes is a text. */
interface Row {
  readonly is?: keyof typeof CHECKS;
  readonly oneOf?: readonly string[];
  readonly takesSeveral?: boolean;
  readonly codes?: ReadonlySet<string>;
  readonly use?: string;
  readonly form?: RegExp;
  readonly accepts?: (text: string) => boolean;
  readonly min?: number;
  readonly max?: number;
  /** Its value stays out of messages. */
  readonly isPersonal?: boolean;
  readonly isRequired?: boolean;
}

const ROWS: Readonly<Record<string, Row>> = widgetOptionRows;
const ITEM_ROWS: Readonly<Record<string, Row>> = itemInfoRows;

/** What to do about names that are not options. */
const UNKNOWN: Readonly<Record<string, string>> = {
  origin: "is set from the environment; leave it out",
  wallet_address: "is the session's name for it; use address",
  currency: "belongs to the session; use currencies to limit the choice",
  wallets: "belongs into extra; use extra.wallets",
  item_info: "belongs into extra; use extra.item_info",
  widget_layout_mode: "is set by the SDK; leave it out",
  await_data: "is set by the SDK; leave it out",
  container_id: "is no longer supported; leave it out",
};

/** What decides who is paid and where the widget opens is never extra. */
const OURS = ["partner_id", "session_id", "origin", "listeners", "extra"];
const CONTRACT = ["sc_address", "sc_input_data", "signature"];

/** What is looked at together. */
interface Whole {
  readonly rules: Rules;
  readonly input: Fields;
  /** The default asset, where the options name one without a fault. */
  readonly asset: AnyAssetPair | undefined;
  /** The asset table's row of it. */
  readonly listed: Asset | null;
  /** The assets on offer, likewise. */
  offered?: readonly AnyAssetPair[] | undefined;
}

/** A value, and where it stands. */
class At {
  readonly value: unknown;
  readonly path: string;
  readonly faults: WidgetFault[];

  constructor(value: unknown, path: string, faults: WidgetFault[]) {
    this.value = value;
    this.path = path;
    this.faults = faults;
  }

  /** Adds a fault; `problem` continues a sentence that begins with the path. */
  refuse(code: WidgetFaultCode, problem: string): undefined {
    const { path, value } = this;
    this.faults.push({ code, path, value, message: `${path} ${problem}` });
  }

  /** The same, where the value may be shown. */
  is(code: WidgetFaultCode, problem: string): undefined {
    return this.refuse(code, `is ${shown(this.value)}${problem}`);
  }

  part(name: string): At {
    const path = this.path === "" ? name : `${this.path}.${name}`;
    return new At(Object(this.value)[name], path, this.faults);
  }

  /** Refuses every filled part that is not among those known. */
  hasOnly(known: readonly string[], problem: string): void {
    for (const [name, value] of Object.entries(Object(this.value))) {
      if (value === undefined || known.includes(name)) continue;
      this.part(name).refuse("unknown", `${problem} ${known.join(", ")}`);
    }
  }
}

/**
 * Checks all options, and gives what the SDK wants; it counts only where no
 * fault was added.
 */
export function checkOptions(
  options: unknown,
  rules: Rules,
  faults: WidgetFault[],
): Fields {
  const all = new At(options, "", faults);
  if (!isRecord(options)) {
    const problem = `are ${shown(options)}, no object`;
    new At(options, "options", faults).refuse("type", problem);
    return {};
  }
  const given = new At(rules.extraOptions, "extraOptions", faults);
  const extras = extraOptions(given);
  const input: Fields = Object.fromEntries(
    Object.entries(options).filter(([name, value]) =>
      value !== undefined && !Object.hasOwn(extras, name)
    ),
  );
  const asset = "commodity" in input || "network" in input
    ? pair(new At(input, "", faults), rules)
    : undefined;
  const listed = asset
    ? findAsset(rules.table, asset.commodity, asset.network)
    : null;
  const whole: Whole = { rules, input, asset, listed };
  const out: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(ROWS)) {
    const at = new At(input[name], name, faults);
    if (name === "session_id" && !rules.needsSession) {
      // The fault does not hold its value, which is a secret.
      const none = new At(undefined, name, faults);
      const hint = "comes with the session that is asked for at the click";
      if (at.value !== undefined) none.refuse("unknown", hint);
    } else if (at.value !== undefined) out[name] = check(row, at, whole);
    else if (row.isRequired) {
      at.refuse("required", `is missing; use ${row.use}`);
    }
  }
  checkTogether(all, whole);
  for (const name of Object.keys(input)) {
    if (Object.hasOwn(ROWS, name)) continue;
    const hint = Object.hasOwn(UNKNOWN, name)
      ? UNKNOWN[name] ?? ""
      : "is not an option of the widget; it would be dropped silently, or set " +
        "extraOptions for one that is new";
    all.part(name).refuse("unknown", hint);
  }
  return { ...defined(out), ...extras };
}

/** Options that are newer than this version: kept as they are. */
function extraOptions(extras: At): Fields {
  return Object.fromEntries(
    Object.entries(Object(extras.value)).filter(([name, value]) => {
      const at = extras.part(name);
      if (OURS.includes(name)) {
        return at.refuse("conflict", "cannot be replaced; leave it out");
      }
      const isText = typeof value === "string" && value !== "";
      if (isText || value === true || Number.isFinite(value)) return true;
      return at.is(
        "type",
        "; use a text, a number or true, which the SDK can pass on",
      );
    }),
  );
}

function checkTogether(
  all: At,
  { input, asset, listed, offered }: Whole,
): void {
  if (input.click_id === "test_click_id") {
    const click = all.part("click_id");
    click.is("unavailable", ", the test event's own; use clickId()");
  }
  if (asset && offered && !offered.some((one) => keyOf(one) === keyOf(asset))) {
    const hint = "is the default asset, but is not among commodities";
    all.part("commodity").refuse("conflict", hint);
  }
  const restricts = input.payment_method_restriction === true;
  if (restricts && input.payment_method === undefined) {
    const hint = "needs payment_method, or nothing is restricted";
    all.part("payment_method_restriction").refuse("conflict", hint);
  }
  const missing = CONTRACT.filter((name) => input[name] === undefined);
  if (missing.length < CONTRACT.length) {
    for (const name of missing) {
      const hint = `is missing; a smart contract needs ${CONTRACT.join(", ")}`;
      all.part(name).refuse("required", hint);
    }
  }
  if (input.sc_address !== undefined && listed?.smartContracts === false) {
    const hint = ", which cannot pay for smart contracts";
    all.part("commodity").is("unavailable", hint);
  }
}

function check(row: Row, at: At, whole: Whole): unknown {
  if (row.is !== undefined) return CHECKS[row.is](at, whole);
  if (row.oneOf === undefined && row.codes === undefined) return text(row, at);
  return row.takesSeveral && Array.isArray(at.value)
    ? list(at, (each) => listed(row, each))
    : listed(row, at);
}

function text(
  { form, accepts, use, min = 1, max = 2048, isPersonal }: Row,
  at: At,
): string | undefined {
  const { value } = at;
  const instead = `; use ${use}`;
  if (typeof value !== "string") {
    return at.refuse("type", `is not a string${instead}`);
  }
  if (value === "") return at.refuse("required", `is empty${instead}`);
  const { length } = value;
  if (length < min || length > max) {
    const not = `not ${min} to ${max} characters`;
    return at.refuse("length", `has ${length} characters, ${not}${instead}`);
  }
  const fits = form?.test(value) !== false && accepts?.(value) !== false;
  if (fits) return value;
  return isPersonal
    ? at.refuse("format", `is wrong${instead}`)
    : at.is("format", instead);
}

function listed({ oneOf, codes, use }: Row, at: At): string | undefined {
  const { value } = at;
  const isText = typeof value === "string";
  if (isText && (codes?.has(value) ?? oneOf?.includes(value))) return value;
  const upper = isText && codes?.has(value.toUpperCase())
    ? ", in capital letters"
    : "";
  const instead = use ?? oneOf?.join(", ");
  return at.is(isText ? "unlisted" : "type", `; use ${instead}${upper}`);
}

/** A list of several, not empty, without repeats. */
function list<Out extends string | Keyed>(
  at: At,
  check: (entry: At) => Out | undefined,
): Out[] | undefined {
  const { value, path, faults } = at;
  if (!Array.isArray(value)) return at.is("type", ", no array");
  if (value.length === 0) {
    const hint = "is an empty array; leave the option out or fill it";
    return at.refuse("required", hint);
  }
  const before = faults.length;
  const seen = new Map<string, Out>();
  value.forEach((entry: unknown, i) => {
    const each = new At(entry, `${path}[${i}]`, faults);
    const out = check(each);
    if (out === undefined) return;
    const key = typeof out === "string" ? out : keyOf(out);
    if (seen.has(key)) each.refuse("duplicate", "is named twice");
    seen.set(key, out);
  });
  return faults.length === before ? [...seen.values()] : undefined;
}

/** The checks of the rows' `is`. */
const CHECKS = {
  /** True, or nothing: the SDK would count a `false` in the address as true. */
  flag: (at: At): true | undefined =>
    typeof at.value === "boolean" ? at.value || undefined : at.is(
      "type",
      "; use true or false, no string: the widget counts any value as true",
    ),

  webAddress(at: At): string | undefined {
    const { value } = at;
    const isText = typeof value === "string";
    const url = isText && URL.canParse(value) ? new URL(value) : null;
    if (isText && /^https?:$/.test(url?.protocol ?? "")) return value;
    const hint = "; use a full http or https address";
    return at.is(isText ? "format" : "type", hint);
  },

  listeners(at: At): unknown {
    if (!isRecord(at.value)) {
      return at.is("type", "; use an object of functions");
    }
    for (const name of listenerNames) {
      const listener = at.part(name);
      const isGiven = listener.value !== undefined;
      if (isGiven && typeof listener.value !== "function") {
        listener.is("type", ", no function");
      }
    }
    at.hasOnly(listenerNames, "is not an event; use");
    return sdkListeners(at.value as WidgetListeners);
  },

  default: (at: At, { asset }: Whole): string | undefined =>
    asset?.[at.path as keyof AnyAssetPair],

  pairs(at: At, whole: Whole): string | undefined {
    whole.offered = list(at, (each) => pair(each, whole.rules));
    return whole.offered && JSON.stringify(whole.offered);
  },

  currencies(at: At, { rules }: Whole): string | undefined {
    const currencies = list(at, (each) => {
      if (rules.allowsUnlisted) {
        return text({ form: /^[A-Z]{3}$/, use: "an ISO code" }, each);
      }
      return each.value === "EUR" && rules.table === "sandbox"
        ? each.is("unavailable", ", which the sandbox does not have; use USD")
        : listed({ oneOf: FIAT_CURRENCIES }, each);
    });
    return currencies && JSON.stringify(currencies);
  },

  address: (at: At, { asset }: Whole): string | undefined =>
    wallet(at, asset?.network),

  commodityAmount: (at: At, { listed }: Whole): number | undefined =>
    amount(at, listed?.decimals ?? 18),

  currencyAmount(at: At, whole: Whole): number | undefined {
    const { asset, offered } = whole;
    const checked = amount(at, FIAT_DECIMALS);
    // Without a default asset of the page's own the service's counts.
    const implied = defaultCommodity(whole.rules.table);
    const isOffered = offered?.some(({ commodity }) => commodity === implied);
    const paidFor = asset?.commodity ?? (isOffered === false ? "" : implied);
    const minimum = Number(minimumAmount(paidFor));
    if (checked === undefined || checked >= minimum) return checked;
    return at.is("range", `; use at least ${minimum}`);
  },

  /**
   * Turns an ISO date into the country's order of day and month, which is all
   * the widget has to tell 3 April from 4 March.
   */
  dateOfBirth(at: At, { input, rules }: Whole): string | undefined {
    const value = typeof at.value === "string" ? at.value : "";
    const [date, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value) ??
      [];
    if (date === undefined || !isCalendarDate(date)) {
      const hint = "is no ISO date; use YYYY-MM-DD, a day that exists";
      return at.refuse("format", hint);
    }
    if (Date.parse(date) > rules.now || Number(year) < 1900) {
      return at.refuse("range", "is not between 1900 and today");
    }
    const country = input.country_of_residence;
    if (typeof country !== "string") {
      const hint = "needs country_of_residence, which decides the order of " +
        "day and month";
      return at.refuse("conflict", hint);
    }
    const parts = country === "US" ? [month, day, year] : [day, month, year];
    return parts.join("/");
  },

  /** Made afresh, so that it can be sent by message. */
  extra(at: At, whole: Whole): Fields | undefined {
    if (!isRecord(at.value)) {
      return at.is("type", "; use { wallets, item_info }, no string");
    }
    at.hasOnly(["wallets", "item_info"], "is unknown; use");
    const wallets = at.part("wallets");
    const item = at.part("item_info");
    return filled({
      wallets: wallets.value === undefined
        ? undefined
        : list(wallets, (each) => namedWallet(each, whole.rules)),
      item_info: item.value === undefined ? undefined : itemInfo(item, whole),
    });
  },
};

function itemInfo(at: At, whole: Whole): Fields | undefined {
  if (!isRecord(at.value)) return at.is("type", ", no object");
  const texts = Object.entries(ITEM_ROWS).map(([name, row]) => {
    const part = at.part(name);
    return [
      name,
      part.value === undefined ? part.value : check(row, part, whole),
    ];
  });
  at.hasOnly(Object.keys(ITEM_ROWS), "is unknown; use");
  return filled(Object.fromEntries(texts));
}

/** The fields that are there; undefined where none is. */
function filled(fields: Fields): Fields | undefined {
  const kept = defined(fields);
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function namedWallet(at: At, rules: Rules) {
  const asset = pair(at, rules, "name");
  if (!isRecord(at.value)) return undefined;
  const address = wallet(at.part("address"), asset?.network);
  at.hasOnly(["name", "network", "address"], "is unknown; use");
  if (asset === undefined || address === undefined) return undefined;
  return { name: asset.commodity, network: asset.network, address };
}

/** An address, checked for the outer form of its network where known. */
function wallet(at: At, network: string | undefined): string | undefined {
  const { value } = at;
  if (typeof value !== "string") {
    return value === undefined
      ? at.refuse("required", "is missing; use a wallet address")
      : at.refuse("type", "is not a string; use a wallet address");
  }
  const fits = /^\S+$/.test(value) &&
    (network === undefined || hasWalletShape(network, value));
  if (fits) return value;
  const where = network === undefined ? "" : ` of ${network}`;
  return at.is("format", `, no address${where}; the widget would drop it`);
}

/**
 * A decimal string that a number holds exactly and prints without exponent,
 * because the SDK writes the number into an address.
 */
function amount(at: At, decimals: number): number | undefined {
  const { value } = at;
  if (typeof value !== "string") {
    return at.is("type", '; use a decimal string such as "25.50"');
  }
  if (!/^(0|[1-9]\d*)(\.\d+)?$/.test(value)) {
    const hint = '; use digits with at most one point, such as "25.50"';
    return at.is("format", hint);
  }
  const plain = value.includes(".") ? value.replace(/\.?0+$/, "") : value;
  if (plain === "0") return at.refuse("range", "is zero; use more, or none");
  if ((plain.split(".")[1] ?? "").length > decimals) {
    return at.is("range", `; use at most ${decimals} decimals`);
  }
  if (String(Number(plain)) === plain) return Number(plain);
  const hint = ", which the SDK cannot pass exactly; ask for it in the session";
  return at.is("inexact", hint);
}

/** A pair of commodity (or, in wallets, `name`) and network. */
function pair(
  at: At,
  { table, allowsUnlisted }: Rules,
  key: "commodity" | "name" = "commodity",
): AnyAssetPair | undefined {
  if (!isRecord(at.value)) return at.is("type", `; use { ${key}, network }`);
  const [first, second] = [at.part(key), at.part("network")];
  const [commodity, network] = [assetName(first), assetName(second)];
  if (commodity === undefined || network === undefined) return undefined;
  const found = findAsset(table, commodity, network);
  const asset = { commodity, network };
  if (allowsUnlisted || (found && keyOf(found) === keyOf(asset))) return asset;
  if (found !== null) {
    return first.is(
      "unlisted",
      ` on ${shown(network)}; the service spells it ` +
        `${shown(found.commodity)} on ${shown(found.network)}`,
    );
  }
  const newer = "use one, or set allowUnlistedAssets for one that is new";
  const networks = networksOf(table, commodity).join(", ");
  if (networks !== "") {
    const has = `${table} has ${shown(commodity)} on ${networks}`;
    return second.is("unlisted", `; ${has}; ${newer}`);
  }
  const names = new Set(assets[table].map((row) => row.commodity));
  return first.is(
    "unlisted",
    `; ${table} has ${[...names].join(", ")}; ${newer}`,
  );
}

function assetName(at: At): string | undefined {
  const { value } = at;
  if (value === undefined) {
    return at.refuse("required", "is missing; name both or neither");
  }
  if (typeof value !== "string") return at.is("type", ", no string");
  return /^[\w.-]+$/.test(value) ? value : at.is("format", "; use a name");
}

/** A pair, or a wallet for one. */
interface Keyed {
  readonly commodity?: string;
  readonly name?: string;
  readonly network: string;
}

function keyOf({ commodity, name, network }: Keyed): string {
  return `${commodity ?? name} ${network}`;
}

/** A value for a message: short, on one line, and never throwing. */
function shown(value: unknown): string {
  const text = typeof value === "string"
    ? JSON.stringify(value)
    : typeof value === "function"
    ? "a function"
    : Array.isArray(value)
    ? "an array"
    : typeof value === "object" && value !== null
    ? "an object"
    : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
