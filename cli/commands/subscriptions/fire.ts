import type { Command } from "commander";
import { printable } from "../../../core/printable.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import {
  FIRE,
  requireSubscription,
} from "../../../resources/operations/subscription_operations.ts";
import type { FiredHistoryJson } from "../../../resources/queries/subscriptions.ts";
import { shellWord } from "../../../resources/views/shell_word.ts";
import { counted } from "../../../resources/views/text.ts";
import { CommandError, UsageError } from "../../../settings/errors.ts";
import type { Cli } from "../../program/cli.ts";
import { confirmed, type Io, jsonLine, line, lines } from "../../program/io.ts";
import { perform } from "../../program/operation_command.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";

interface FireFlags extends SharedFlags, FireHistoryFlags {
  readonly imported?: boolean;
  readonly historic?: boolean;
}

/** `subscriptions fire`. */
export function addFire(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("fire").argument(
    "[keys...]",
    "keys of the states to deliver; without keys, lists those never delivered; " +
      "with --historic the name of a subscription",
  ).description(
    "deliver states that a refold or an import made, or what had happened " +
      "before the ledger went live",
  );
  jsonOption(ledgerOptions(command), "one object a line")
    .option("--imported", "also list what an import brought")
    .option(
      "--historic",
      "deliver to one subscription, once, what happened before the ledger went " +
        "live, except releases",
    )
    .option("--dry-run", "with --historic: count it, and fire nothing")
    .option("--yes", "with --historic: do not ask")
    .addHelpText(
      "after",
      "\nWith --historic and --json, and without --yes, nothing is fired." +
        "\n\nExample:\n  rampkit subscriptions fire order:01KA:release.yes" +
        "\n  rampkit subscriptions fire goods --historic --dry-run",
    )
    .action(
      cli.run(
        async (keys: string[], flags: FireFlags) => {
          if (!flags.historic && (flags.dryRun || flags.yes)) {
            throw new UsageError("--dry-run and --yes go with --historic");
          }
          if (keys.length > 0 && !flags.historic) {
            return await perform(cli.io, FIRE, { key: keys }, flags);
          }
          await withReadLedger(cli.io, flags, async (ledger) => {
            await upToDate(ledger, cli.io);
            if (flags.historic) {
              return await fireHistory(cli.io, ledger, keys, flags);
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

/** Flags of `subscriptions fire NAME --historic`. */
export interface FireHistoryFlags {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: true;
}

/**
 * Tells one subscription of what had happened before the ledger went live: says
 * how much it is, asks, and does it.
 *
 * @param operands What was named on the command line: the subscription.
 */
export async function fireHistory(
  io: Io,
  ledger: Ledger,
  operands: readonly string[],
  { json, dryRun = false, yes }: FireHistoryFlags,
): Promise<void> {
  const [name, ...more] = operands;
  if (name === undefined || more.length > 0) {
    throw new UsageError("--historic needs the name of one subscription");
  }
  await requireSubscription(ledger, name);
  const { signal } = io;
  const { subscriptions } = ledger;
  const plan = await subscriptions.fireHistoric(name, { dryRun: true, signal });
  if (!json) {
    line(
      io,
      `${printable(name)} was never told of ${
        counted(plan.transitions, "transition")
      } from before the ledger went live`,
    );
    if (plan.released > 0) {
      line(
        io,
        `Left out: ${counted(plan.released, "release")}, because the goods ` +
          "may have been handed over before; one that is to be shipped: " +
          "rampkit subscriptions fire order:ORDER:release.yes",
      );
    }
  }
  const isNothing = dryRun || plan.transitions === 0;
  const goesOn = !isNothing && (yes ?? (json ? false : await confirmed(
    io,
    `Tell ${printable(name)} of them? Type yes: `,
  )));
  if (!goesOn) {
    if (json) return jsonLine<FiredHistoryJson>(io, { ...plan, fired: 0 });
    if (isNothing) return;
    throw new CommandError(
      "Nothing was fired: add --yes where nobody can be asked",
    );
  }
  const { transitions } = await subscriptions.fireHistoric(name, { signal });
  if (json) {
    return jsonLine<FiredHistoryJson>(io, { ...plan, fired: transitions });
  }
  line(
    io,
    `${counted(transitions, "transition")} to be told, by the process that ` +
      "runs the subscription",
  );
}
