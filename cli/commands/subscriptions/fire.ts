import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, line, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { counted } from "../../../resources/views/counted.ts";
import { shellWord } from "../../../resources/views/shell_word.ts";

/** `subscriptions fire`. */
export function addFire(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("fire").argument(
    "[keys...]",
    "keys of the states to deliver; without keys, lists those never delivered",
  ).description(
    "deliver states that a refold or an import made",
  );
  jsonOption(ledgerOptions(command), "one object a line")
    .option("--imported", "list what an import brought as well")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit subscriptions fire order:01KA:release.yes",
    )
    .action(
      cli.run(
        async (keys: string[], flags: SharedFlags & { imported?: boolean }) => {
          await withReadLedger(cli.io, flags, async (ledger) => {
            await upToDate(ledger, cli.io);
            if (keys.length > 0) {
              cli.io.signal.throwIfAborted();
              const fired = await ledger.subscriptions.fire(keys);
              if (flags.json) jsonLine(cli.io, { fired });
              else {
                line(
                  cli.io,
                  `${counted(fired, "state")} to be told, by the process ` +
                    "that runs the subscription",
                );
                const others = keys.length - fired;
                if (others > 0) {
                  line(
                    cli.io,
                    `Left out, because told before or not in this ledger: ` +
                      `${others}; to list those never told: rampkit ` +
                      "subscriptions fire",
                  );
                }
              }
              return;
            }
            const unfired = await ledger.subscriptions.unfired({
              imported: flags.imported ?? false,
            });
            for (const one of unfired) {
              if (flags.json) jsonLine(cli.io, one);
              else lines(cli.io, [shellWord(one.key)]);
            }
            if (!flags.json && unfired.length === 0) {
              line(cli.io, "Subscriptions were told of every state");
            }
          });
        },
      ),
    );
}
