import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import {
  requireSubscription,
  SUBSCRIPTION_NAME,
} from "./require_subscription.ts";

/** `subscriptions retry`. */
export function addRetry(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("retry").argument(
    "<name>",
    SUBSCRIPTION_NAME,
  )
    .argument("[key]", "only this dead letter; without it all of them")
    .description("deliver dead letters again");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit subscriptions retry goods")
    .action(
      cli.run(
        async (name: string, key: string | undefined, flags: SharedFlags) => {
          await withReadLedger(cli.io, flags, async (ledger) => {
            cli.io.signal.throwIfAborted();
            await requireSubscription(ledger, name);
            const retried = await ledger.subscriptions.retry(name, key);
            if (flags.json) jsonLine(cli.io, { retried });
            else {
              line(
                cli.io,
                `${retried} dead letters will be tried again, by the process ` +
                  "that runs the subscription",
              );
            }
          });
        },
      ),
    );
}
