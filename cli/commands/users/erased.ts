import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { CommandError } from "../../program/exit_codes.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import { erasedPeopleJson, erasedPeopleLines } from "./erasure_view.ts";

/** `users erased`. */
export function addErased(users: Command, cli: Cli): void {
  const command = users.command("erased").argument(
    "[id]",
    "say whether this user was erased",
  ).description("list who was erased, and orders that came later");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit users erased 01KA00000000000000000000",
    )
    .action(cli.run(async (id: string | undefined, flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async ({ erasures }) => {
        const user = id === undefined ? null : await erasures.find(id);
        if (id !== undefined && user === null) {
          throw new CommandError(
            `Nobody of that id was erased from this ledger: "${id}"`,
            "not_found",
          );
        }
        const found = {
          user,
          people: await erasures.list(),
          returned: await erasures.returned(),
        };
        if (flags.json) return jsonLine(cli.io, erasedPeopleJson(found));
        lines(cli.io, erasedPeopleLines(found, cli.io.columns));
      });
    }));
}
