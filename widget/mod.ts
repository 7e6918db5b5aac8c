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
 * - {@linkcode webviewPage} for mobile apps.
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
export * from "./options/asset_pair.ts";
export * from "./options/click_id.ts";
export * from "./options/environment.ts";
export * from "./session/fetch_session.ts";
export * from "./options/ignored_options.ts";
export * from "./options/listeners.ts";
export * from "./options/lists.ts";
export * from "./options/options_error.ts";
export * from "./options/options_input.ts";
export * from "./options/sdk_options.ts";
export type {
  ExpectedFields,
  ExpectedTexts,
  SessionPlan,
  SessionRecord,
} from "./session/recorded_session.ts";
export * from "./session/session_endpoint.ts";
export * from "./session/session_error.ts";
export * from "./session/session_ticket.ts";
export * from "./page/webview_page.ts";
export * from "./session/widget_opener.ts";
export * from "./options/widget_options.ts";
