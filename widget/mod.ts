/**
 * What a page needs to open the payment widget: checked options, and one
 * session for each click.
 *
 * Runs in browsers and on servers; needs no DOM, and brings no key and no
 * server code into a page.
 *
 * - {@linkcode widgetOptions} and {@linkcode draftOptions} check everything
 *   that the official SDK does not; {@linkcode ignoredOptions} says what a
 *   session will drop.
 * - {@linkcode sessionEndpoint} on your server, {@linkcode fetchSession} and
 *   {@linkcode WidgetOpener} in the page: a session for each click.
 *
 * @example Check options, then open with a session
 * ```ts
 * import { clickId, draftOptions } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const draft = draftOptions({
 *   partner_id: "01ABC",
 *   click_id: clickId(),
 *   country_of_residence: "US",
 *   date_of_birth: "1990-04-03",
 *   listeners: {
 *     "payment-status": ({ status }) => console.log("hint:", status),
 *   },
 * }, { environment: "sandbox" });
 *
 * assert.equal(draft.date_of_birth, "04/03/1990");
 * // In the page: new WidgetOpener({ Widget: WertWidget, draft, askSession })
 * ```
 *
 * @module
 */
export {
  type AnyAssetPair,
  type AssetPair,
  assetRows,
  type WordsOf,
} from "../core/assets/assets.ts";
export type { AssetTable } from "../core/assets/environment.ts";
export type { WidgetFault, WidgetFaultCode } from "./check_options.ts";
export * from "./click_id.ts";
export * from "./ignored_options.ts";
export * from "./listeners.ts";
export * from "./option_rows.ts";
export * from "./options.ts";
export {
  type ExpectedFields,
  type ExpectedTexts,
  sessionEndpoint,
  type SessionEndpointOptions,
  type SessionPlan,
  type SessionPorts,
  type SessionRecord,
} from "./session_endpoint.ts";
export * from "./session_opener.ts";
