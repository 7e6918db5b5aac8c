import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import type { Retried } from "../../../resources/queries/subscriptions.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import { counted } from "../../../resources/views/counted.ts";
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
    .argument(
      "[key]",
      "only this dead letter; without it all of them, and all that wait for a retry",
    )
    .description("deliver dead letters and failed deliveries again, at once");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit subscriptions retry goods")
    .action(
      cli.run(
        async (name: string, key: string | undefined, flags: SharedFlags) => {
          await withReadLedger(cli.io, flags, async (ledger) => {
            cli.io.signal.throwIfAborted();
            await requireSubscription(ledger, name);
            const { subscriptions } = ledger;
            // First: what is revived below is due already.
            const hastened = key === undefined
              ? await subscriptions.hasten(name)
              : 0;
            const retried = await subscriptions.retry(name, key);
            if (flags.json) {
              return jsonLine<Retried>(cli.io, { retried, hastened });
            }
            line(
              cli.io,
              `${counted(retried, "dead letter")}` +
                (key === undefined
                  ? ` and ${hastened} that waited for another attempt`
                  : "") +
                " will be tried at once, by the process that runs the " +
                "subscription",
            );
          });
        },
      ),
    );
}
