import type { Command } from "commander";
import {
  type Items,
  type Operation,
  readValues,
} from "../../resources/operations/operation.ts";
import { lower } from "../../resources/views/text.ts";
import { UsageError } from "../../settings/errors.ts";
import type { Cli } from "./cli.ts";
import { jsonLine, line, lines } from "./io.ts";
import { jsonOption, ledgerOptions, type SharedFlags } from "./options.ts";
import { withReadLedger } from "./with_ledger.ts";

/**
 * Adds the command of an operation: its parameters are operands, in their
 * order.
 *
 * @param group The commands that it is one of.
 */
export function addOperation(
  group: Command,
  cli: Cli,
  operation: Operation,
): void {
  const { action, summary, description, example, params, result } = operation;
  const command = group.command(action).summary(lower(summary)).description(
    lower(description === undefined ? summary : `${summary}. ${description}`),
  );
  const names = Object.keys(params);
  for (const name of names) {
    const { required = false, description = "" } = params[name] ?? {};
    command.argument(required ? `<${name}>` : `[${name}]`, description);
  }
  const printed = result.isList ? "one object a line" : "one object";
  jsonOption(ledgerOptions(command), printed)
    .addHelpText(
      "after",
      `\nExample:\n  ${
        ["rampkit", group.name(), action, example].filter(Boolean).join(" ")
      }`,
    )
    .action(cli.run(async (...given: unknown[]) => {
      const flags = given[names.length] as SharedFlags;
      const values = readValues(operation, (name) => {
        const text = given[names.indexOf(name)];
        return typeof text === "string" ? text : undefined;
      });
      if (values === null) {
        throw new UsageError(`Missing operands: ${names.join(", ")}`);
      }
      await withReadLedger(cli.io, flags, async (ledger) => {
        cli.io.signal.throwIfAborted();
        const found = await operation.run(ledger, values);
        if (flags.json) {
          const all = result.isList ? (found as Items<unknown>).items : [found];
          for (const one of all) jsonLine(cli.io, one);
          return;
        }
        const { columns } = cli.io;
        const told = operation.says(found, values, { columns, flags });
        if (typeof told === "string") line(cli.io, told);
        else lines(cli.io, told);
      });
    }));
}
