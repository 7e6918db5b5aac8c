import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

/** A file that pages load. */
export interface ServedFile {
  readonly type: string;
  readonly text: string;
}

const FILES: ReadonlyMap<string, ServedFile> = new Map([
  ["console.css", { type: "text/css; charset=utf-8", text: STYLE }],
  ["console.js", { type: "text/javascript; charset=utf-8", text: SCRIPT }],
]);

/** A file by its name; null where there is none. */
export function servedFile(name: string): ServedFile | null {
  return FILES.get(name) ?? null;
}
