import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import sdk from "@wert-io/widget-initializer/index.js" with { type: "text" };
import sdkPackage from "@wert-io/widget-initializer/package.json" with {
  type: "json",
};
import pageScript from "./page.js" with { type: "text" };

/** Files that the page's script leads to. */
const FILES: ReadonlySet<string> = new Set([
  "/core/rules/session_validity.ts",
  "/widget/options/listeners.ts",
  "/widget/session/fetch_session.ts",
  "/widget/session/session_error.ts",
  "/widget/session/session_ticket.ts",
  "/widget/session/widget_opener.ts",
]);

/**
 * The official SDK as a browser's script that sets `WertWidget`. Its package
 * holds one CommonJS file and no build for browsers; this gives the file the
 * two names it asks for and changes nothing in it.
 */
export const SDK_SCRIPT: string = `globalThis.WertWidget = ((module) => {
const require = () => (${JSON.stringify({ version: sdkPackage.version })});
${sdk}
return module.exports;
})({ exports: {} });
`;

/** Where {@linkcode browserModule} finds the page's own script. */
export const PAGE_SCRIPT = "/cli/demo/browser/page.js";

/**
 * A module for the browser, under the path it has in this package so that
 * imports need no rewriting: the page's script, and the very files of the
 * package that it uses, with their types taken out.
 *
 * @param path Path of the request.
 * @returns The text; null for anything else.
 */
export async function browserModule(path: string): Promise<string | null> {
  if (path === PAGE_SCRIPT) return pageScript;
  if (!FILES.has(path)) return null;
  const file = new URL(`../../..${path}`, import.meta.url);
  return stripTypeScriptTypes(await readFile(file, "utf8"));
}
