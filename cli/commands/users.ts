import type { Command } from "commander";
import { CommandError } from "../exit_codes.ts";
import { jsonLine, line } from "../io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
  wholeNumber,
} from "../options.ts";
import type { Cli } from "../cli.ts";
import { userJson, userLines, userTable } from "../user_view.ts";
import { upToDate, withLedger } from "../with_ledger.ts";

/** `users list | show`. */
export function addUsers(program: Command, cli: Cli): void {
  const users = program.command("users").description(
    "what the ledger knows of users",
  );
  addList(users, cli);
  addShow(users, cli);
}

function addList(users: Command, cli: Cli): void {
  const command = users.command("list").description("list users");
  jsonOption(ledgerOptions(command), "one JSON object a line")
    .option(
      "--limit <n>",
      "at most this many users, 0 for all",
      wholeNumber("--limit", 0, 1e9),
      50,
    )
    .addHelpText("after", "\nExample:\n  rampkit users list --limit 20")
    .action(cli.run(async (flags: SharedFlags & { limit: number }) => {
      await withLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const shown = [];
        let count = 0;
        let more = false;
        for await (const user of ledger.users.list({})) {
          if (flags.limit > 0 && count === flags.limit) {
            more = true;
            break;
          }
          count++;
          if (flags.json) jsonLine(cli.io, userJson(user));
          else shown.push(user);
        }
        if (flags.json) return;
        if (count === 0) return line(cli.io, "No users");
        line(cli.io, userTable(shown, cli.io.columns));
        if (more) {
          line(cli.io, `\nFirst ${flags.limit} shown; --limit 0 shows all`);
        }
      });
    }));
}

function addShow(users: Command, cli: Cli): void {
  const command = users.command("show").argument("<id>", "user id")
    .description("show one user: verification, bans, limits, cards");
  jsonOption(ledgerOptions(command), "one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit users show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const user = await ledger.users.get(id);
        if (user === null) {
          throw new CommandError(
            `No such user: the ledger has no user "${id}"; ` +
              "a poll may find them: rampkit poll --once",
          );
        }
        if (flags.json) jsonLine(cli.io, userJson(user));
        else for (const text of userLines(user)) line(cli.io, text);
      });
    }));
}
