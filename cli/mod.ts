/**
 * The command line as a function: {@linkcode main} takes arguments and a
 * terminal, and resolves to an exit code. Run as the main module it is the
 * program.
 *
 * @example Asking for help
 * ```ts
 * import { main } from "@rampkit/onramp/cli";
 *
 * const code = await main(["--help"], {
 *   out: () => {},
 *   err: () => {},
 *   env: () => undefined,
 *   columns: 80,
 *   colour: false,
 *   now: () => Date.now(),
 *   signal: new AbortController().signal,
 * });
 * if (code !== 0) throw new Error("Help failed");
 * ```
 *
 * @module
 */
import process from "node:process";
import { processIo } from "./program/process_io.ts";
import { main } from "./program.ts";

export { main };
export { EXIT } from "../core/settings/errors.ts";
export type { Io } from "./program/io.ts";

if (import.meta.main) {
  process.exit(await main(process.argv.slice(2), processIo()));
}
