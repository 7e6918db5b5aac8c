import type { Command } from "commander";
import { defined } from "../../core/guards.ts";
import { moment, TIME_FORMAT } from "../../settings/values.ts";
import {
  refusedExpectation,
  type TermFlags,
  termOptions,
  termsOf,
  validForOption,
} from "./expected_terms.ts";
import { jsonLine, line } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../program/options.ts";
import type { Cli } from "../program/cli.ts";
import { withLedger } from "../program/with_ledger.ts";

interface ExpectFlags extends SharedFlags, TermFlags {
  readonly click: string;
  readonly reference?: string;
  readonly validFor?: number;
  readonly askedAt?: string;
}

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
    );
  validForOption(termOptions(command), "how long it is valid")
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
          ...termsOf(flags),
          validForMs: flags.validFor,
          askedAt: flags.askedAt,
        })).catch(refusedExpectation());
        if (flags.json) jsonLine(cli.io, recorded);
        else {
          line(cli.io, `Expected under the click id ${flags.click}: recorded`);
        }
      });
    }));
}
