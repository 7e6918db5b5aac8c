import type { Command } from "commander";
import { CommandError } from "../exit_codes.ts";
import { jsonLine, line, lines } from "../io.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOf,
  limitOption,
  type SharedFlags,
} from "../options.ts";
import type { Cli } from "../cli.ts";
import { untilStopped } from "../stoppable.ts";
import { userJson, userLines, userTable } from "../user_view.ts";
import { upToDate, withReadLedger } from "../with_ledger.ts";

/** `users list | show`. */
export function addUsers(program: Command, cli: Cli): void {
  const users = program.command("users").summary(
    "list and show users",
  ).description(
    "what the ledger knows of users",
  );
  addList(users, cli);
  addShow(users, cli);
}

function addList(users: Command, cli: Cli): void {
  const command = users.command("list").description("list users, newest first");
  jsonOption(
    limitOption(ledgerOptions(command), "users"),
    "one object a line",
  )
    .addHelpText("after", "\nExample:\n  rampkit users list --limit 20")
    .action(cli.run(async (flags: SharedFlags & { limit?: number }) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const limit = limitOf(flags);
        const shown = [];
        let count = 0;
        let more = false;
        const users = ledger.users.list({});
        for await (const user of untilStopped(users, cli.io.signal)) {
          if (limit > 0 && count === limit) {
            more = true;
            break;
          }
          count++;
          if (flags.json) jsonLine(cli.io, userJson(user));
          else shown.push(user);
        }
        if (flags.json) return;
        if (count === 0) return line(cli.io, "No users");
        lines(cli.io, [userTable(shown, cli.io.columns)]);
        if (more) {
          line(cli.io);
          line(cli.io, `The newest ${limit}; --limit 0 shows all`);
        }
      });
    }));
}

function addShow(users: Command, cli: Cli): void {
  const command = users.command("show").argument("<id>", "user id")
    .description("show one user: verification, bans, limits, cards");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit users show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const user = await ledger.users.get(id);
        if (user === null) {
          throw new CommandError(
            `No such user: the ledger has no user "${id}"; ` +
              "a poll may find them: rampkit poll --once",
          );
        }
        if (flags.json) jsonLine(cli.io, userJson(user));
        else lines(cli.io, userLines(user, cli.io.columns));
      });
    }));
}
