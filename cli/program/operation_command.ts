import type { Command } from "commander";
import {
  type Operation,
  readValues,
} from "../../resources/operations/operation.ts";
import { UsageError } from "../../settings/errors.ts";
import type { Cli } from "./cli.ts";
import { jsonLine, line } from "./io.ts";
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
  const { action, summary, description, example, params } = operation;
  const command = group.command(action).summary(lower(summary)).description(
    lower(description === undefined ? summary : `${summary}. ${description}`),
  );
  const names = Object.keys(params);
  for (const name of names) {
    const { required = false, description = "" } = params[name] ?? {};
    command.argument(required ? `<${name}>` : `[${name}]`, description);
  }
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      `\nExample:\n  rampkit ${group.name()} ${action} ${example}`,
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
        const result = await operation.run(ledger, values);
        if (flags.json) jsonLine(cli.io, result);
        else line(cli.io, operation.says(result, values));
      });
    }));
}

function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
