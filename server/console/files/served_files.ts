import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

/** A file that pages load. */
export interface ServedFile {
  /** Its media type. */
  readonly type: string;
  /** Gives its text. */
  readonly text: () => string;
}

const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

/** A tick: the icon of every page. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#0b6e69"/>
<path d="M9 16.5l5 5 9-11" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

const FILES: ReadonlyMap<string, ServedFile> = new Map([
  ["console.css", { type: CSS, text: () => STYLE }],
  ["console.js", { type: JAVASCRIPT, text: () => SCRIPT }],
  ["icon.svg", { type: "image/svg+xml", text: () => ICON }],
]);

/** A file by its name; null where there is none. */
export function servedFile(name: string): ServedFile | null {
  return FILES.get(name) ?? null;
}
