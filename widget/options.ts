import {
  type AnyAssetPair,
  type AssetPair,
  assets,
  findAsset,
  networksOf,
} from "../core/assets/assets.ts";
import {
  type AssetTable,
  production,
  sandbox,
} from "../core/assets/environment.ts";
import { isRecord } from "../core/guards.ts";
import {
  defaultCommodity,
  FIAT_CURRENCIES,
  FIAT_DECIMALS,
  minimumAmount,
} from "../core/rules/fiat_amount.ts";
import { hasWalletShape } from "../core/rules/wallet_shape.ts";
import { isCalendarDate } from "../core/time/service_time.ts";
import {
  listenerNames,
  sdkListeners,
  type WidgetListeners,
} from "./listeners.ts";
import {
  itemInfoRows,
  type WidgetDraft,
  type WidgetDraftInput,
  type WidgetInput,
  widgetOptionRows,
  type WidgetOptions,
} from "./option_rows.ts";

/**
 * Where a widget opens, and which assets it may sell. The client's environments
 * are assignable to it.
 */
export interface WidgetEnvironment {
  /** Origin of the widget, without a trailing slash. */
  readonly widgetOrigin: string;
  /** Asset table to check against. @default {"production"} */
  readonly assets?: AssetTable;
}

/** A preset's name, or an environment of your own. */
export type WidgetEnvironmentChoice =
  | "production"
  | "sandbox"
  | WidgetEnvironment;

/** The asset table of an environment, as far as its type tells. */
export type TableOf<Choice> = Choice extends AssetTable ? Choice
  : Choice extends { readonly assets: infer Table extends AssetTable } ? Table
  : AssetTable;

/** The pairs that an environment sells; any where unlisted ones may pass. */
export type PairsIn<Choice, Unlisted = false> = [Unlisted] extends [false]
  ? AssetPair<TableOf<Choice>>
  : AnyAssetPair;

/** The currencies it takes, of which the sandbox has USD alone; any likewise. */
export type CurrenciesIn<Choice, Unlisted = false> = [Unlisted] extends [false]
  ? TableOf<Choice> extends "sandbox" ? "USD" : "USD" | "EUR"
  : string;

/** What options are checked against. */
export interface WidgetContext<
  Choice extends WidgetEnvironmentChoice,
  Unlisted extends boolean = boolean,
> {
  /** Where the widget opens: sets `origin`, the assets and the currencies. */
  readonly environment: Choice;
  /**
   * Whether pairs and currencies that are not in the table are let through: the
   * service's tables change often.
   *
   * @default {false}
   */
  readonly allowUnlistedAssets?: Unlisted;
  /**
   * Options, or values of options such as a language, that the widget has added
   * since this version. The SDK gets them as they are, and no rule is applied
   * to what they name. A value is a text, a number or `true`.
   *
   * @default {{}}
   */
  readonly extraOptions?: Readonly<Record<string, string | number | true>>;
  /** Clock, in milliseconds, for the date of birth. @default {Date.now} */
  readonly now?: () => number;
}

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

/**
 * Widget options that would fail in front of a user: misuse, so a `TypeError`.
 * It holds every fault at once.
 */
export class WidgetOptionsError extends TypeError {
  /** Literal name. */
  override readonly name = "WidgetOptionsError";
  /** Literal code. */
  readonly code = "widget_options";
  /** Every fault, in the order of the options; at least one. */
  readonly faults: readonly WidgetFault[];

  /**
   * Creates one error from all faults.
   *
   * @param faults What is wrong; at least one.
   */
  constructor(faults: readonly WidgetFault[]) {
    super(
      `Cannot make widget options: ${faults.length} ` +
        `${faults.length === 1 ? "fault" : "faults"}: ` +
        faults.map(({ message }) => message).join("; "),
    );
    this.faults = Object.freeze([...faults]);
  }
}

/**
 * Resolves a preset's name, or checks an environment of your own.
 *
 * @param choice A preset's name, or an origin and an asset table.
 * @returns The bare origin, as the SDK wants it, and the asset table.
 * @throws {TypeError} When the name is unknown, or the origin is not a bare
 * `http:` or `https:` origin.
 *
 * @example Find the widget's origin
 * ```ts
 * import { widgetEnvironment } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const { widgetOrigin } = widgetEnvironment("sandbox");
 * assert.equal(widgetOrigin, "https://sandbox.wert.io");
 * ```
 */
export function widgetEnvironment(
  choice: WidgetEnvironmentChoice,
): Required<WidgetEnvironment> {
  const refuse = (what: string, value: unknown, instead: string) => {
    throw new TypeError(
      `Cannot resolve the widget's environment: ${what} is ` +
        `${JSON.stringify(value)}; use ${instead}`,
    );
  };
  const given: WidgetEnvironment = typeof choice === "object"
    ? choice
    : choice === "production"
    ? production
    : choice === "sandbox"
    ? sandbox
    : refuse(
      "environment",
      choice,
      '"production", "sandbox" or an object with widgetOrigin',
    );
  const { widgetOrigin, assets = "production" } = given;
  if (assets !== "production" && assets !== "sandbox") {
    refuse("assets", assets, '"production" or "sandbox"');
  }
  const url = URL.canParse(widgetOrigin) ? new URL(widgetOrigin) : null;
  // The SDK hands the origin to postMessage and builds the address by joining
  // strings: a path or a trailing slash would break the one or the other.
  if (
    url === null || !/^https?:$/.test(url.protocol) ||
    url.origin !== widgetOrigin.replace(/\/$/, "")
  ) {
    return refuse("widgetOrigin", widgetOrigin, "a bare http or https origin");
  }
  return { widgetOrigin: url.origin, assets };
}

/**
 * Checks options and puts them into the form of the official SDK, which
 * itself checks nothing but `partner_id`.
 *
 * Needs no DOM, so it runs on a server and in tests as well.
 *
 * @param input The options, session included.
 * @param context The environment, and whether unlisted assets may pass.
 * @returns Options to hand to the SDK's constructor.
 * @throws {WidgetOptionsError} With every fault, when there is any.
 * @throws {TypeError} When the environment is unknown.
 *
 * @example Options for the sandbox
 * ```ts
 * import { clickId, widgetOptions } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const options = widgetOptions({
 *   partner_id: "01ABC",
 *   session_id: "s-1",
 *   click_id: clickId(),
 *   commodity: "TT",
 *   network: "amoy",
 *   commodities: [{ commodity: "TT", network: "amoy" }],
 *   currency_amount: "25.50",
 * }, { environment: "sandbox" });
 *
 * assert.equal(options.origin, "https://sandbox.wert.io");
 * assert.equal(options.commodities, `[{"commodity":"TT","network":"amoy"}]`);
 * ```
 */
export function widgetOptions<
  const Choice extends WidgetEnvironmentChoice,
  const Unlisted extends boolean = false,
>(
  input: WidgetInput<PairsIn<Choice, Unlisted>, CurrenciesIn<Choice, Unlisted>>,
  context: WidgetContext<Choice, Unlisted>,
): WidgetOptions {
  return new OptionCheck(input, context).result(true) as WidgetOptions;
}

/**
 * Checks options before there is a session, for a page that asks for one when
 * the user clicks; see {@linkcode WidgetOpener}.
 *
 * @param input The options without `session_id`.
 * @param context The environment, and whether unlisted assets may pass.
 * @returns Options that lack only their session.
 * @throws {WidgetOptionsError} With every fault, when there is any.
 * @throws {TypeError} When the environment is unknown.
 *
 * @example Check when the page loads
 * ```ts
 * import { draftOptions } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const draft = draftOptions({ partner_id: "01ABC", theme: "dark" }, {
 *   environment: "production",
 * });
 * assert.equal(draft.theme, "dark");
 * ```
 */
export function draftOptions<
  const Choice extends WidgetEnvironmentChoice,
  const Unlisted extends boolean = false,
>(
  input: WidgetDraftInput<
    PairsIn<Choice, Unlisted>,
    CurrenciesIn<Choice, Unlisted>
  >,
  context: WidgetContext<Choice, Unlisted>,
): WidgetDraft {
  return new OptionCheck(input, context).result(false);
}

/** A row as the checks read it; one without `is`, lists or codes is a text. */
interface Row {
  readonly is?: Exclude<keyof OptionCheck, "result">;
  readonly oneOf?: readonly string[];
  readonly codes?: ReadonlySet<string>;
  readonly use?: string;
  readonly form?: RegExp;
  readonly accepts?: (text: string) => boolean;
  readonly min?: number;
  readonly max?: number;
  /** Its value stays out of messages. */
  readonly isPersonal?: boolean;
  readonly isRequired?: boolean;
  readonly takesSeveral?: boolean;
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

type Fields = Readonly<Record<string, unknown>>;

/**
 * One look at all options. Each check is named as in the rows' `is`, and gives
 * what the SDK wants, or undefined after adding a fault.
 */
class OptionCheck {
  readonly #faults: WidgetFault[] = [];
  readonly #context: WidgetContext<WidgetEnvironmentChoice>;
  readonly #environment: Required<WidgetEnvironment>;
  readonly #extras: Fields;
  readonly #input: Fields;
  /** The default asset, where the options name one without a fault. */
  #asset: AnyAssetPair | undefined;
  #offered: readonly AnyAssetPair[] | undefined;

  constructor(
    input: unknown,
    context: WidgetContext<WidgetEnvironmentChoice>,
  ) {
    this.#environment = widgetEnvironment(context.environment);
    this.#context = context;
    if (!isRecord(input)) {
      this.#fault("type", "options", input, `are ${shown(input)}, no object`);
      throw new WidgetOptionsError(this.#faults);
    }
    this.#extras = this.#extraOptions(context.extraOptions ?? {});
    this.#input = Object.fromEntries(
      Object.entries(input).filter(([name, value]) =>
        value !== undefined && !Object.hasOwn(this.#extras, name)
      ),
    );
  }

  result(needsSession: boolean): WidgetDraft {
    const input = this.#input;
    const { widgetOrigin: origin } = this.#environment;
    if ("commodity" in input || "network" in input) {
      this.#asset = this.#pair(input, "");
    }
    const out: Record<string, unknown> = {};
    for (const [name, row] of Object.entries(ROWS)) {
      const value = input[name];
      if (name === "session_id" && !needsSession) {
        if (value === undefined) continue;
        const hint = "comes with the session that is asked for at the click";
        this.#fault("unknown", name, undefined, hint);
      } else if (value !== undefined) {
        const checked = this.#check(row, value, name);
        if (checked !== undefined) out[name] = checked;
      } else if (row.isRequired) {
        this.#fault("required", name, value, `is missing; use ${row.use}`);
      }
    }
    this.#checkTogether();
    for (const name of Object.keys(input)) {
      if (Object.hasOwn(ROWS, name)) continue;
      const hint = Object.hasOwn(UNKNOWN, name)
        ? UNKNOWN[name]
        : "is not an option of the widget; it would be dropped silently, or " +
          "set extraOptions for one that is new";
      this.#fault("unknown", name, input[name], `${hint}`);
    }
    if (this.#faults.length > 0) throw new WidgetOptionsError(this.#faults);
    return { ...out, origin, ...this.#extras } as WidgetDraft;
  }

  /** `problem` continues a sentence that begins with the path. */
  #fault(
    code: WidgetFaultCode,
    path: string,
    value: unknown,
    problem: string,
  ): undefined {
    this.#faults.push({ code, path, value, message: `${path} ${problem}` });
  }

  #check(row: Row, value: unknown, path: string): unknown {
    if (row.is !== undefined) return this[row.is](value, path);
    if (row.codes) return this.#code(row, value, path);
    if (!row.oneOf) return this.#text(row, value, path);
    const one = (value: unknown, path: string) => this.#oneOf(row, value, path);
    return row.takesSeveral && Array.isArray(value)
      ? this.#list(value, path, one, String)
      : one(value, path);
  }

  #checkTogether(): void {
    const input = this.#input;
    const asset = this.#asset;
    if (input.click_id === "test_click_id") {
      const hint = 'is "test_click_id", the test event\'s own; use clickId()';
      this.#fault("unavailable", "click_id", input.click_id, hint);
    }
    if (asset && this.#offered && !this.#offered.some(same(asset))) {
      const hint = "is the default asset, but is not among commodities";
      this.#fault("conflict", "commodity", asset.commodity, hint);
    }
    if (
      input.payment_method_restriction === true &&
      input.payment_method === undefined
    ) {
      const hint = "needs payment_method, or nothing is restricted";
      this.#fault("conflict", "payment_method_restriction", true, hint);
    }
    const missing = CONTRACT.filter((name) => input[name] === undefined);
    if (missing.length === CONTRACT.length) return;
    for (const name of missing) {
      const hint = `is missing; a smart contract needs ${CONTRACT.join(", ")}`;
      this.#fault("required", name, undefined, hint);
    }
    if (
      input.sc_address !== undefined && this.#listed?.smartContracts === false
    ) {
      const hint = `is ${
        shown(asset?.commodity)
      }, which cannot pay for smart contracts`;
      this.#fault("unavailable", "commodity", asset?.commodity, hint);
    }
  }

  /** The default asset's row of the asset table. */
  get #listed() {
    const { assets } = this.#environment;
    return this.#asset &&
      findAsset(assets, this.#asset.commodity, this.#asset.network);
  }

  /** Options that are newer than this version: kept as they are. */
  #extraOptions(given: Fields): Fields {
    const kept: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(given)) {
      const path = `extraOptions.${name}`;
      if (OURS.includes(name)) {
        this.#fault(
          "conflict",
          path,
          value,
          "cannot be replaced; leave it out",
        );
      } else if (
        value !== true && !Number.isFinite(value) &&
        (typeof value !== "string" || value === "")
      ) {
        const hint =
          `is ${shown(value)}; use a text, a number or true, which ` +
          "the SDK can pass on";
        this.#fault("type", path, value, hint);
      } else kept[name] = value;
    }
    return kept;
  }

  #text(row: Row, value: unknown, path: string): string | undefined {
    const { form, accepts, use, min = 1, max = 2048, isPersonal } = row;
    const refuse = (code: WidgetFaultCode, problem: string) =>
      this.#fault(code, path, value, `${problem}; use ${use}`);
    if (typeof value !== "string") return refuse("type", "is not a string");
    if (value === "") return refuse("required", "is empty");
    const { length } = value;
    if (length < min || length > max) {
      const not = `not ${min} to ${max} characters`;
      return refuse("length", `has ${length} characters, ${not}`);
    }
    if (form?.test(value) === false || accepts?.(value) === false) {
      return refuse("format", isPersonal ? "is wrong" : `is ${shown(value)}`);
    }
    return value;
  }

  #oneOf({ oneOf = [], use }: Row, value: unknown, path: string) {
    if (typeof value === "string" && oneOf.includes(value)) return value;
    const code = typeof value === "string" ? "unlisted" : "type";
    const is = `is ${shown(value)}; use ${use ?? oneOf.join(", ")}`;
    return this.#fault(code, path, value, is);
  }

  #code({ codes, use }: Row, value: unknown, path: string) {
    if (typeof value !== "string") {
      return this.#fault("type", path, value, `is ${shown(value)}; use ${use}`);
    }
    if (codes?.has(value)) return value;
    const upper = codes?.has(value.toUpperCase()) ? ", in capital letters" : "";
    const is = `is ${shown(value)}; use ${use}${upper}`;
    return this.#fault("unlisted", path, value, is);
  }

  /** A list of several, not empty, without repeats. */
  #list<Out>(
    value: unknown,
    path: string,
    check: (value: unknown, path: string) => Out | undefined,
    sameness: (out: Out) => string,
  ): Out[] | undefined {
    if (!Array.isArray(value)) {
      return this.#fault("type", path, value, `is ${shown(value)}, no array`);
    }
    if (value.length === 0) {
      const hint = "is an empty array; leave the option out or fill it";
      return this.#fault("required", path, value, hint);
    }
    const before = this.#faults.length;
    const seen = new Map<string, Out>();
    value.forEach((entry: unknown, i) => {
      const at = `${path}[${i}]`;
      const out = check(entry, at);
      if (out === undefined) return;
      const key = sameness(out);
      if (seen.has(key)) this.#fault("duplicate", at, entry, "is named twice");
      seen.set(key, out);
    });
    return this.#faults.length === before ? [...seen.values()] : undefined;
  }

  /** True, or nothing: the SDK would count a `false` in the address as true. */
  flag(value: unknown, path: string): true | undefined {
    if (typeof value === "boolean") return value || undefined;
    const hint = `is ${shown(value)}; use true or false, no string: the ` +
      "widget counts any value as true";
    return this.#fault("type", path, value, hint);
  }

  webAddress(value: unknown, path: string): string | undefined {
    const isText = typeof value === "string";
    const url = isText && URL.canParse(value) ? new URL(value) : null;
    if (isText && /^https?:$/.test(url?.protocol ?? "")) return value;
    const hint = `is ${shown(value)}; use a full http or https address`;
    return this.#fault(isText ? "format" : "type", path, value, hint);
  }

  listeners(value: unknown, path: string): unknown {
    if (!isRecord(value)) {
      const hint = `is ${shown(value)}; use an object of functions`;
      return this.#fault("type", path, value, hint);
    }
    for (const [name, listener] of Object.entries(value)) {
      const at = `${path}.${name}`;
      if (!listenerNames.some((known) => known === name)) {
        const hint = `is not an event; use ${listenerNames.join(", ")}`;
        this.#fault("unknown", at, listener, hint);
      } else if (listener !== undefined && typeof listener !== "function") {
        this.#fault("type", at, listener, `is ${shown(listener)}, no function`);
      }
    }
    return sdkListeners(value as WidgetListeners);
  }

  default(_value: unknown, path: string): string | undefined {
    return this.#asset?.[path as keyof AnyAssetPair];
  }

  pairs(value: unknown, path: string): string | undefined {
    this.#offered = this.#list(
      value,
      path,
      (entry, at) => this.#pair(entry, at),
      ({ commodity, network }) => `${commodity} ${network}`,
    );
    return this.#offered && JSON.stringify(this.#offered);
  }

  currencies(value: unknown, path: string): string | undefined {
    const row = this.#context.allowUnlistedAssets
      ? { form: /^[A-Z]{3}$/, use: "an ISO code" }
      : { oneOf: FIAT_CURRENCIES };
    const list = this.#list(value, path, (entry, at) => {
      if (
        entry === "EUR" && this.#environment.assets === "sandbox" &&
        !this.#context.allowUnlistedAssets
      ) {
        const hint = 'is "EUR", which the sandbox does not have; use USD';
        return this.#fault("unavailable", at, entry, hint);
      }
      return this.#check(row, entry, at);
    }, String);
    return list && JSON.stringify(list);
  }

  address(value: unknown, path: string): string | undefined {
    return this.#wallet(value, path, this.#asset?.network);
  }

  commodityAmount(value: unknown, path: string): number | undefined {
    return this.#amount(value, path, this.#listed?.decimals ?? 18);
  }

  currencyAmount(value: unknown, path: string): number | undefined {
    const amount = this.#amount(value, path, FIAT_DECIMALS);
    // Without a default asset of the page's own the service's counts.
    const implied = defaultCommodity(this.#environment.assets);
    const isOffered = this.#offered?.some((one) => one.commodity === implied);
    const commodity = this.#asset?.commodity ??
      (isOffered === false ? "" : implied);
    const minimum = Number(minimumAmount(commodity));
    if (amount === undefined || amount >= minimum) return amount;
    const hint = `is ${shown(value)}; use at least ${minimum}`;
    return this.#fault("range", path, value, hint);
  }

  /**
   * Turns an ISO date into the country's order of day and month, which is all
   * the widget has to tell 3 April from 4 March.
   */
  dateOfBirth(value: unknown, path: string): string | undefined {
    const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(
      typeof value === "string" ? value : "",
    );
    if (match === null || !isCalendarDate(match[0])) {
      const hint = "is no ISO date; use YYYY-MM-DD, a day that exists";
      return this.#fault("format", path, value, hint);
    }
    const [date, year, month, day] = match;
    const now = (this.#context.now ?? Date.now)();
    if (Date.parse(date) > now || Number(year) < 1900) {
      const hint = "is not between 1900 and today";
      return this.#fault("range", path, value, hint);
    }
    const country = this.#input.country_of_residence;
    if (typeof country !== "string") {
      const hint = "needs country_of_residence, which decides the order of " +
        "day and month";
      return this.#fault("conflict", path, value, hint);
    }
    return country === "US"
      ? `${month}/${day}/${year}`
      : `${day}/${month}/${year}`;
  }

  /** Makes `extra` afresh, so that it can be sent by message. */
  extra(value: unknown, path: string): Fields | undefined {
    if (!isRecord(value)) {
      const hint = `is ${shown(value)}; use { wallets, item_info }, no string`;
      return this.#fault("type", path, value, hint);
    }
    this.#unknownIn(value, path, ["wallets", "item_info"]);
    const { wallets, item_info } = value;
    return filled({
      wallets: wallets === undefined ? undefined : this.#list(
        wallets,
        `${path}.wallets`,
        (entry, at) => this.#namedWallet(entry, at),
        ({ name, network }) => `${name} ${network}`,
      ),
      item_info: this.#itemInfo(item_info, `${path}.item_info`),
    });
  }

  #itemInfo(value: unknown, path: string): Fields | undefined {
    if (value === undefined) return undefined;
    if (!isRecord(value)) {
      return this.#fault("type", path, value, `is ${shown(value)}, no object`);
    }
    const known = Object.entries(ITEM_ROWS).map(([name, row]) => [
      name,
      value[name] === undefined
        ? undefined
        : this.#check(row, value[name], `${path}.${name}`),
    ]);
    this.#unknownIn(value, path, Object.keys(ITEM_ROWS));
    return filled(Object.fromEntries(known));
  }

  #unknownIn(value: Fields, path: string, known: readonly string[]): void {
    for (const [name, entry] of Object.entries(value)) {
      if (known.includes(name) || entry === undefined) continue;
      const hint = `is unknown; use ${known.join(", ")}`;
      this.#fault("unknown", `${path}.${name}`, entry, hint);
    }
  }

  #namedWallet(
    value: unknown,
    path: string,
  ): { name: string; network: string; address: string } | undefined {
    const pair = this.#pair(value, path, "name");
    if (!isRecord(value)) return undefined;
    const at = `${path}.address`;
    const address = this.#wallet(value.address, at, pair?.network);
    this.#unknownIn(value, path, ["name", "network", "address"]);
    if (pair === undefined || address === undefined) return undefined;
    return { name: pair.commodity, network: pair.network, address };
  }

  /** An address, checked for the outer form of its network where known. */
  #wallet(
    value: unknown,
    path: string,
    network: string | undefined,
  ): string | undefined {
    if (typeof value !== "string") {
      const isMissing = value === undefined;
      const hint = isMissing ? "is missing" : "is not a string";
      return this.#fault(
        isMissing ? "required" : "type",
        path,
        value,
        `${hint}; use a wallet address`,
      );
    }
    const fits = /^\S+$/.test(value) &&
      (network === undefined || hasWalletShape(network, value));
    if (fits) return value;
    const where = network === undefined ? "" : ` of ${network}`;
    const hint = `is ${
      shown(value)
    }, no address${where}; the widget would drop it`;
    return this.#fault("format", path, value, hint);
  }

  /**
   * A decimal string that a number holds exactly and prints without exponent,
   * because the SDK writes the number into an address.
   */
  #amount(value: unknown, path: string, decimals: number): number | undefined {
    const is = `is ${shown(value)}`;
    if (typeof value !== "string") {
      const hint = `${is}; use a decimal string such as "25.50"`;
      return this.#fault("type", path, value, hint);
    }
    if (!/^(0|[1-9]\d*)(\.\d+)?$/.test(value)) {
      const hint = `${is}; use digits with at most one point, such as "25.50"`;
      return this.#fault("format", path, value, hint);
    }
    const plain = value.includes(".") ? value.replace(/\.?0+$/, "") : value;
    if (plain === "0") {
      return this.#fault("range", path, value, "is zero; use more, or none");
    }
    if ((plain.split(".")[1] ?? "").length > decimals) {
      const hint = `${is}; use at most ${decimals} decimals`;
      return this.#fault("range", path, value, hint);
    }
    if (String(Number(plain)) === plain) return Number(plain);
    const hint =
      `${is}, which the SDK cannot pass exactly; ask for it in the session`;
    return this.#fault("inexact", path, value, hint);
  }

  /** A pair of commodity (or, in wallets, `name`) and network. */
  #pair(
    value: unknown,
    path: string,
    commodityKey: "commodity" | "name" = "commodity",
  ): AnyAssetPair | undefined {
    if (!isRecord(value)) {
      const hint = `is ${shown(value)}; use { ${commodityKey}, network }`;
      return this.#fault("type", path, value, hint);
    }
    const at = (key: string) => path === "" ? key : `${path}.${key}`;
    const [commodity, network] = [commodityKey, "network"].map((key) =>
      this.#assetName(value[key], at(key))
    );
    if (commodity === undefined || network === undefined) return undefined;
    const pair = { commodity, network };
    if (this.#context.allowUnlistedAssets) return pair;
    const table = this.#environment.assets;
    const found = findAsset(table, commodity, network);
    if (found && same(found)(pair)) return pair;
    const refuse = (key: string, hint: string) =>
      this.#fault("unlisted", at(key), value[key], hint);
    const newer = "or set allowUnlistedAssets for one that is new";
    if (found !== null) {
      return refuse(
        commodityKey,
        `is ${shown(commodity)} on ${shown(network)}; the service spells it ` +
          `${shown(found.commodity)} on ${shown(found.network)}`,
      );
    }
    const networks = networksOf(table, commodity);
    if (networks.length > 0) {
      return refuse(
        "network",
        `is ${shown(network)}; ${table} has ${shown(commodity)} on ` +
          `${networks.join(", ")}; use one, ${newer}`,
      );
    }
    const names = new Set(assets[table].map((entry) => entry.commodity));
    return refuse(
      commodityKey,
      `is ${shown(commodity)}; ${table} has ${[...names].join(", ")}; use ` +
        `one, ${newer}`,
    );
  }

  #assetName(value: unknown, path: string): string | undefined {
    if (typeof value === "string" && /^[\w.-]+$/.test(value)) return value;
    if (value === undefined) {
      const hint = "is missing; name both or neither";
      return this.#fault("required", path, value, hint);
    }
    return typeof value === "string"
      ? this.#fault("format", path, value, `is ${shown(value)}; use a name`)
      : this.#fault("type", path, value, `is ${shown(value)}, no string`);
  }
}

function same(a: AnyAssetPair): (b: AnyAssetPair) => boolean {
  return (b) => a.commodity === b.commodity && a.network === b.network;
}

/** The fields that are there; undefined where none is. */
function filled(fields: Fields): Fields | undefined {
  const entries = Object.entries(fields).filter(([, value]) =>
    value !== undefined
  );
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
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
