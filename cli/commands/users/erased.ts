import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { leftSegments } from "../../../server/ledger_file/left_segments.ts";
import { spoolDirectory } from "../../../server/ledger_file/spool_directory.ts";
import { CommandError, EXIT } from "../../../settings/errors.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { wholeNumber } from "../../../settings/values.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import {
  erasedPeopleJson,
  erasedPeopleLines,
} from "../../../resources/views/erasure_view.ts";

/** Reads a position, and adds it to those that were given before. */
function eachPosition(flag: string) {
  const read = wholeNumber(flag, 1, Number.MAX_SAFE_INTEGER);
  return (value: string, before: readonly number[] = []) => [
    ...before,
    read(value),
  ];
}

interface ErasedFlags extends SharedFlags {
  readonly blank?: readonly number[];
  readonly keep?: readonly number[];
}

/** `users erased`. */
export function addErased(users: Command, cli: Cli): void {
  const command = users.command("erased").argument(
    "[id]",
    "say whether this user was erased",
  ).description("list who was erased, and orders that came later");
  command
    .option(
      "--blank <position>",
      "blank the body of a listed event; may be given several times",
      eachPosition("--blank"),
    )
    .option(
      "--keep <position>",
      "leave a listed event; may be given several times",
      eachPosition("--keep"),
    );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExit code 3 while data of an erased person may remain.\n" +
        "\nExample:\n  rampkit users erased 01KA00000000000000000000",
    )
    .action(cli.run(async (id: string | undefined, flags: ErasedFlags) => {
      return await withReadLedger(cli.io, flags, async (ledger, config) => {
        const { erasures } = ledger;
        const user = id === undefined ? null : await erasures.find(id);
        if (id !== undefined && user === null) {
          throw new CommandError(
            `Nobody of that id was erased from this ledger: "${id}"`,
            "not_found",
          );
        }
        await erasures.settle(flags.blank ?? [], "blank");
        await erasures.settle(flags.keep ?? [], "keep");
        const found = {
          user,
          people: await erasures.list(),
          returned: await erasures.returned(),
          findings: await erasures.findings(),
          isCompared: await erasures.isCompared(),
          spool: await leftSegments(spoolDirectory(config)),
        };
        if (flags.json) jsonLine(cli.io, erasedPeopleJson(found));
        else lines(cli.io, erasedPeopleLines(found, cli.io.columns));
        const { waiting, damaged } = found.spool;
        const nothing = waiting.length + damaged.length === 0 &&
          found.isCompared &&
          found.findings.every(({ settled }) => settled !== null);
        return nothing || found.people.length === 0
          ? EXIT.fine
          : EXIT.disagreement;
      });
    }));
}
