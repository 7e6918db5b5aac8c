import type { Command } from "commander";
import type { Cli } from "../program/cli.ts";
import { CommandError, UsageError } from "../../settings/errors.ts";
import { jsonLine, line, lines } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../program/options.ts";
import { PREFIX_AT_LEAST } from "../../ledger/for_cli.ts";
import { upToDate, withReadLedger } from "../program/with_ledger.ts";
import {
  foundJson,
  foundLines,
  foundTable,
} from "../../resources/views/find_view.ts";
import { recordedText } from "../../resources/wording/found_as.ts";
import { noteOlderFold } from "../program/older_fold.ts";
import { pollAdvice } from "../program/poll_advice.ts";

/** `find`. */
export function addFind(program: Command, cli: Cli): void {
  const command = program.command("find").argument(
    "<text>",
    "order id, external order id, reference, click id, session, transaction, " +
      "wallet address or user id",
  ).summary("find an order or user by any of its ids or references")
    .description(
      "find orders and users by any of their ids or references; case does " +
        "not matter; four or more characters also match the beginning of an " +
        "order id, external order id or reference",
    );
  jsonOption(ledgerOptions(command), "one object a line")
    .addHelpText("after", "\nExample:\n  rampkit find 27E28M")
    .action(cli.run(async (text: string, flags: SharedFlags) => {
      const { io } = cli;
      if (text.trim() === "") {
        throw new UsageError("Wrong <text>: it is empty; name what to find");
      }
      await withReadLedger(io, flags, async (ledger, config) => {
        await upToDate(ledger, io);
        await noteOlderFold(ledger, io);
        const { found, more, recorded } = await ledger.find(text);
        const [first, ...others] = found;
        const [latest] = recorded;
        if (first === undefined && latest !== undefined) {
          throw new CommandError(
            `${recordedText(latest)}; ${await pollAdvice(ledger, config)}`,
            "not_found",
          );
        }
        if (first === undefined) {
          throw new CommandError(
            `Nothing found: no order or user of the ledger is named by ` +
              `"${text}"; ${
                text.trim().length < PREFIX_AT_LEAST
                  ? `the beginning of an id needs ${PREFIX_AT_LEAST} characters`
                  : await pollAdvice(ledger, config)
              }`,
            "not_found",
          );
        }
        if (flags.json) {
          for (const one of found) jsonLine(io, foundJson(one, io.now()));
          return;
        }
        if (others.length === 0) {
          return lines(io, foundLines(first, io.columns, io.now()));
        }
        lines(io, [foundTable(found, io.columns, io.now())]);
        if (more) {
          line(io);
          line(io, `More than these ${found.length} match; narrow your search`);
        }
      });
    }));
}
