import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import type { Resumed } from "../../../resources/queries/subscriptions.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import {
  requireSubscription,
  SUBSCRIPTION_NAME,
} from "./require_subscription.ts";

/** `subscriptions resume`. */
export function addResume(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("resume").argument(
    "<name>",
    SUBSCRIPTION_NAME,
  )
    .description(
      "send again to a target that was switched off after it answered 410",
    );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nIt gets all that came meanwhile.\n\nExample:\n  rampkit subscriptions resume forward:https://shop.example/hooks",
    )
    .action(
      cli.run(async (name: string, flags: SharedFlags) => {
        await withReadLedger(cli.io, flags, async (ledger) => {
          cli.io.signal.throwIfAborted();
          await requireSubscription(ledger, name);
          const resumed = await ledger.subscriptions.resume(name);
          if (flags.json) jsonLine<Resumed>(cli.io, { resumed });
          else {
            line(
              cli.io,
              resumed
                ? "The target is on again; `serve` sends to it within seconds"
                : "Nothing was done: it is not switched off",
            );
          }
        });
      }),
    );
}
