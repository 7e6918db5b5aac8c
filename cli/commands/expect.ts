import type { Command } from "commander";
import { defined } from "../../core/defined.ts";
import { ExpectationError } from "../../ledger/mod.ts";
import { CommandError, UsageError } from "../../settings/errors.ts";
import { lengthOfTime, moment, TIME_FORMAT } from "../../settings/values.ts";
import { jsonLine, line } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../program/options.ts";
import type { Cli } from "../program/cli.ts";
import { withLedger } from "../program/with_ledger.ts";

interface ExpectFlags extends SharedFlags {
  readonly click: string;
  readonly reference?: string;
  readonly currency?: string;
  readonly currencyAmount?: string;
  readonly commodity?: string;
  readonly network?: string;
  readonly commodityAmount?: string;
  readonly wallet?: string;
  readonly user?: string;
  readonly validFor?: number;
  readonly askedAt?: string;
}

/** The flag of each field that the ledger names. */
const FLAGS: Readonly<Record<string, string>> = {
  click_id: "--click",
  clickId: "--click",
  reference: "--reference",
  currency: "--currency",
  currencyAmount: "--currency-amount",
  currency_amount: "--currency-amount",
  commodity: "--commodity",
  network: "--network",
  commodityAmount: "--commodity-amount",
  commodity_amount: "--commodity-amount",
  walletAddress: "--wallet",
  wallet_address: "--wallet",
  userId: "--user",
  user_id: "--user",
  validForMs: "--valid-for",
  askedAt: "--asked-at",
};

/** `expect`: record what an order is expected to be. */
export function addExpect(program: Command, cli: Cli): void {
  const command = program.command("expect").summary(
    "record what an order is expected to be",
  ).description(
    "record what an order is expected to be, without asking the service for a " +
      "session; what was recorded last for a reference before the order counts",
  );
  jsonOption(ledgerOptions(command), "one object")
    .requiredOption("--click <id>", "click id the widget is opened with")
    .option(
      "--reference <text>",
      "your own reference; it names one purchase",
    )
    .option("--currency <code>", "fiat currency")
    .option("--currency-amount <decimal>", "fiat amount; needs --currency")
    .option("--commodity <code>", "asset, for example USDC")
    .option("--network <name>", "network of the asset")
    .option("--commodity-amount <decimal>", "asset amount; needs --commodity")
    .option("--wallet <address>", "address the asset goes to")
    .option("--user <id>", "user who is to pay")
    .option(
      "--valid-for <time>",
      "how long it is valid, like 12h; 7d unless said",
      lengthOfTime("--valid-for"),
    )
    .option(
      "--asked-at <time>",
      `when it was asked for, where that is not now: ${TIME_FORMAT}`,
      moment("--asked-at"),
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit expect --click c-17 --reference basket-17 --currency USD --currency-amount 900.00",
    )
    .action(cli.run(async (flags: ExpectFlags) => {
      await withLedger(cli.io, flags, async (ledger) => {
        const recorded = await ledger.expect(defined({
          clickId: flags.click,
          reference: flags.reference,
          currency: flags.currency,
          currencyAmount: flags.currencyAmount,
          commodity: flags.commodity,
          network: flags.network,
          commodityAmount: flags.commodityAmount,
          walletAddress: flags.wallet,
          userId: flags.user,
          validForMs: flags.validFor,
          askedAt: flags.askedAt,
        })).catch(refusedExpectation);
        if (flags.json) jsonLine(cli.io, recorded);
        else {
          line(cli.io, `Expected under the click id ${flags.click}: recorded`);
        }
      });
    }));
}

/**
 * What could not be recorded, in the words of the command line.
 *
 * @throws {UsageError} When flags are wrong.
 * @throws {CommandError} When the click id is still valid for another reference.
 */
export function refusedExpectation(error: unknown): never {
  if (!(error instanceof ExpectationError)) throw error;
  const issues = error.issues.map(({ field, message }) =>
    `${FLAGS[field] ?? field} ${message}`
  ).join("; ");
  throw error.code === "invalid"
    ? new UsageError(`Wrong ${issues}`, { cause: error })
    : new CommandError(`Not recorded: ${issues}`, "in_use");
}
