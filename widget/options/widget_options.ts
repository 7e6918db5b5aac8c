import { checkOptions } from "./_check_options.ts";
import { Faults } from "./_checks.ts";
import {
  type CurrenciesIn,
  type PairsIn,
  widgetEnvironment,
  type WidgetEnvironmentChoice,
} from "./environment.ts";
import type { WidgetDraftInput, WidgetInput } from "./options_input.ts";
import { WidgetOptionsError } from "./options_error.ts";
import type { WidgetDraft, WidgetOptions } from "./sdk_options.ts";

/** What options are checked against. */
export interface WidgetContext<
  Choice extends WidgetEnvironmentChoice,
  Unlisted extends boolean = boolean,
> {
  /** Where the widget opens: sets `origin`, the assets and the currencies. */
  readonly environment: Choice;
  /**
   * Whether pairs and currencies that are not in the table are let through:
   * the service's tables change often.
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
  /**
   * Clock, in milliseconds, for the date of birth.
   *
   * @default {Date.now}
   */
  readonly now?: () => number;
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
  return check(input, context, true);
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
): WidgetOptions {
  const { widgetOrigin, assets } = widgetEnvironment(context.environment);
  const faults = new Faults();
  const options = checkOptions(input, {
    table: assets,
    allowsUnlisted: context.allowUnlistedAssets === true,
    origin: widgetOrigin,
    now: (context.now ?? Date.now)(),
    needsSession,
    extraOptions: context.extraOptions ?? {},
  }, faults);
  if (options === undefined || faults.list.length > 0) {
    throw new WidgetOptionsError(faults.list);
  }
  return options;
}
