import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOption,
  type SharedFlags,
} from "../../program/options.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { printList } from "../../program/list.ts";
import {
  userJson,
  userLines,
  userTable,
} from "../../../resources/views/user_view.ts";
import { CommandError } from "../../../settings/errors.ts";
import { jsonLine, lines } from "../../program/io.ts";
import { userDetail } from "../../../resources/queries/users.ts";
import { pollAdvice } from "../../program/poll_advice.ts";

/** `users list`. */
export function addList(users: Command, cli: Cli): void {
  const command = users.command("list").description("list users, newest first");
  jsonOption(
    limitOption(ledgerOptions(command), "users"),
    "one object a line",
  )
    .addHelpText("after", "\nExample:\n  rampkit users list --limit 20")
    .action(cli.run(async (flags: SharedFlags & { limit?: number }) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        await printList(cli.io, flags, ledger.users.list({}), {
          none: "No users",
          json: userJson,
          table: userTable,
        });
      });
    }));
}

/** `users show`. */
export function addShow(users: Command, cli: Cli): void {
  const command = users.command("show").argument("<id>", "user id")
    .description("show one user: verification, bans, limits, cards");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit users show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger, config) => {
        await upToDate(ledger, cli.io);
        const user = await ledger.users.get(id);
        if (user === null) {
          const erased = await ledger.erasures.find(id);
          throw new CommandError(
            erased === null
              ? `No such user: the ledger has no user "${id}"; ` +
                await pollAdvice(ledger, config)
              : `No such user: "${id}" was erased at ${erased.erasedAt}; see ` +
                "rampkit users erased",
            "not_found",
          );
        }
        const detail = await userDetail(ledger, user, cli.io.now());
        if (flags.json) return jsonLine(cli.io, detail);
        const { columns } = cli.io;
        lines(cli.io, userLines(detail, columns, cli.io.now(), detail));
      });
    }));
}
