import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import type { Dropped } from "../../../resources/queries/subscriptions.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import {
  requireSubscription,
  SUBSCRIPTION_NAME,
} from "./require_subscription.ts";

/** `subscriptions drop`. */
export function addDrop(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("drop").argument(
    "<name>",
    SUBSCRIPTION_NAME,
  )
    .argument("<key>", "the dead letter to delete")
    .description(
      "delete a dead letter: it is never delivered, and no later one lists it as missed",
    );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit subscriptions drop goods order:01KA:release.yes",
    )
    .action(
      cli.run(async (name: string, key: string, flags: SharedFlags) => {
        await withReadLedger(cli.io, flags, async (ledger) => {
          cli.io.signal.throwIfAborted();
          await requireSubscription(ledger, name);
          const dropped = await ledger.subscriptions.drop(name, key);
          if (flags.json) jsonLine<Dropped>(cli.io, { dropped });
          else line(cli.io, `${dropped} dead letters were given up`);
        });
      }),
    );
}
