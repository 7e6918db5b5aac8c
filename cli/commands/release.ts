import type { Command } from "commander";
import { defined } from "../../core/guards.ts";
import { ReleaseError } from "../../ledger/mod.ts";
import { describeHandRelease } from "../../resources/wording/release.ts";
import { printable } from "../../core/printable.ts";
import { CommandError, UsageError } from "../../settings/errors.ts";
import type { Cli } from "../program/cli.ts";
import { jsonLine, line } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../program/options.ts";
import { withLedger } from "../program/with_ledger.ts";
import { findOrder, ORDER_ID } from "./orders/show.ts";

interface ReleaseFlags extends SharedFlags {
  readonly delivered?: boolean;
  readonly refunded?: boolean;
  readonly for?: string;
  readonly by: string;
  readonly why: string;
}

/** `release`: record that a person delivered or refunded an order. */
export function addRelease(program: Command, cli: Cli): void {
  const command = program.command("release").argument("<order>", ORDER_ID)
    .summary("record that you delivered or refunded an order")
    .description(
      "record that a person delivered or refunded an order: no handler and no " +
        "target gets its order.release.yes afterwards",
    );
  jsonOption(ledgerOptions(command), "one object")
    .option("--delivered", "the goods were handed out")
    .option("--refunded", "the money was returned")
    .option(
      "--for <reference>",
      "reference of the purchase that was delivered; needed where the order " +
        "was read and matches no expectation",
    )
    .requiredOption("--by <name>", "who did it")
    .requiredOption("--why <text>", "why; name no customer: erasures keep it")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit release 01KA00000000000000000000 --delivered --for basket-17 --by Ada --why 'paid at the counter'",
    )
    .action(cli.run(async (id: string, flags: ReleaseFlags) => {
      const { delivered = false, refunded = false, by, why } = flags;
      if (delivered === refunded) {
        throw new UsageError("Say either --delivered or --refunded");
      }
      await withLedger(cli.io, flags, async (ledger, config) => {
        await ledger.project();
        const { order } = await findOrder(ledger, config, id);
        const { orderId } = order;
        const outcome = delivered ? "delivered" : "refunded";
        const recorded = await ledger.release(orderId, {
          outcome,
          by,
          why,
          ...defined({ for: flags.for }),
        }).catch(refusedRelease);
        if (flags.json) jsonLine(cli.io, recorded);
        else {
          const text = describeHandRelease(recorded);
          line(cli.io, printable(`Order ${orderId}: ${text}`));
        }
      });
    }));
}

/**
 * What could not be recorded, in the words of the command line.
 *
 * @throws {UsageError} When flags are wrong or one is missing.
 * @throws {CommandError} When the order was released by hand before.
 */
function refusedRelease(error: unknown): never {
  if (!(error instanceof ReleaseError)) throw error;
  const { code, message } = error;
  if (code === "invalid") throw new UsageError(message, { cause: error });
  if (code === "reference_missing") {
    throw new CommandError(`${message} with --for`);
  }
  throw new CommandError(message);
}
