import process from "node:process";
import { parseArgs } from "node:util";
import { messageOf } from "../../../core/guards.ts";
import { EXIT } from "../../../core/settings/errors.ts";
import { guardedIo, type Io, line, note } from "../../program/io.ts";
import { processIo } from "../../program/process_io.ts";
import { reportError } from "../../program/report_error.ts";
import {
  type BrowserDemoAddresses,
  runBrowserDemo,
} from "./run_browser_demo.ts";

/**
 * What `rampkit demo --browser` starts in a checkout.
 *
 * @param args `--port`, `--seed`, `--folder` and `--fresh`, which the command
 * has checked.
 * @param terminal The terminal and clock; its signal ends the demo.
 * @returns The exit code.
 */
export async function browserProgram(
  args: readonly string[],
  terminal: Io,
): Promise<number> {
  const io = guardedIo(terminal);
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: "string", default: "0" },
        seed: { type: "string", default: "1" },
        folder: { type: "string", default: "." },
        fresh: { type: "boolean", default: false },
      },
    });
    await runBrowserDemo({
      port: Number(values.port),
      seed: Number(values.seed),
      folder: values.folder,
      fresh: values.fresh,
      onReplace: (text) => note(io, text),
      now: io.now,
      signal: io.signal,
      onReady: (addresses) => invite(io, addresses),
      onError: (error) => note(io, messageOf(error)),
    });
    return EXIT.fine;
  } catch (error) {
    return reportError(error, io, false);
  }
}

function invite(io: Io, addresses: BrowserDemoAddresses): void {
  line(io, `Open ${addresses.page} and press Buy; stop it with Ctrl-C`);
  line(io, `  the service in a box: ${addresses.control}`);
  line(io, `  the console over the ledger: ${addresses.console}`);
  line(
    io,
    `  the ledger, which the next demo replaces: ${addresses.databaseUrl}`,
  );
}

if (import.meta.main) {
  process.exit(await browserProgram(process.argv.slice(2), processIo()));
}
