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
import { userJson, userTable } from "../../../resources/views/user_view.ts";

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
