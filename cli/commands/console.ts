import type { Command } from "commander";
import {
  type ConsoleSettings,
  openConfiguredConsole,
} from "../serve_flags/serve_flags.ts";
import { jsonLog } from "../../server/monitoring/logger.ts";
import { type Cli, line } from "../program/io.ts";
import {
  ledgerOptions,
  settingOption,
  settingOptions,
  type SharedFlags,
} from "../program/options.ts";
import { redact, SETTINGS } from "../../core/settings/settings.ts";
import { aborted } from "../../core/settings/values.ts";
import { withLedger } from "../program/with_ledger.ts";

interface ConsoleFlags extends SharedFlags, ConsoleSettings {}

/** `console`: the ledger as web pages. */
export function addConsole(program: Command, cli: Cli): void {
  const command = program.command("console").summary(
    "show the ledger as web pages",
  ).description(
    "show the ledger as web pages for support, finance and on-call: search, " +
      "orders, what waits for a person, delivery and months",
  );
  ledgerOptions(command);
  settingOption(command, "port", { fallback: SETTINGS.console.fallback });
  settingOption(command, "host", {
    means: "address to listen on; on any other address people must sign in",
  });
  settingOption(command, "consoleAllowHost", {
    flag: "--allow-host <name...>",
    means: "host names under which people open it, for example " +
      "console.example.com",
  });
  settingOptions(command, "explorers", "operate")
    .addHelpText("after", HELP)
    .action(cli.run(async (flags: ConsoleFlags) => {
      const { io } = cli;
      const opening = { opens: "read" } as const;
      await withLedger(io, flags, opening, async (ledger, config) => {
        const log = jsonLog((text) => io.err(redact(text, io.env)), io.now);
        const shown = { ledger, config, log, now: io.now };
        const open = await openConfiguredConsole(shown, flags, false);
        line(io, `Open ${open.url}; stop it with Ctrl-C`);
        await aborted(io.signal);
        await open.shutdown();
      });
    }));
}

const HELP = `
Pages only read. They show what the ledger knows, and do not ask the service.

Example:
  rampkit console --port 8790`;
