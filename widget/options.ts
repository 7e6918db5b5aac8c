import type { AnyAssetPair, AssetPair } from "../core/assets/assets.ts";
import {
  type AssetTable,
  production,
  sandbox,
} from "../core/assets/environment.ts";
import { checkOptions, type WidgetFault } from "./check_options.ts";
import type {
  WidgetDraft,
  WidgetDraftInput,
  WidgetInput,
  WidgetOptions,
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
  const refuse = (what: string, value: unknown, instead: string): never => {
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
  return check(input, context, true) as WidgetOptions;
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
  return check(input, context, false);
}

function check(
  input: unknown,
  context: WidgetContext<WidgetEnvironmentChoice>,
  needsSession: boolean,
): WidgetDraft {
  const { widgetOrigin, assets } = widgetEnvironment(context.environment);
  const faults: WidgetFault[] = [];
  const options = checkOptions(input, {
    table: assets,
    allowsUnlisted: context.allowUnlistedAssets === true,
    now: (context.now ?? Date.now)(),
    needsSession,
    extraOptions: context.extraOptions ?? {},
  }, faults);
  if (faults.length > 0) throw new WidgetOptionsError(faults);
  return { ...options, origin: widgetOrigin } as unknown as WidgetDraft;
}
