import { type Command, Option } from "commander";
import type { Cli } from "../program/io.ts";
import { jsonOption } from "../program/options.ts";
import { wholeNumber } from "../../core/settings/values.ts";
import {
  runSourceProgram,
  type SourceProgram,
} from "../program/source_program.ts";

interface SimFlags {
  readonly seed: number;
  readonly runs: number;
  readonly keepGoing?: boolean;
  readonly mutations?: boolean;
  readonly only?: string;
  readonly flood?: number;
  readonly json?: boolean;
}

const SIMULATOR: SourceProgram = {
  name: "the simulator",
  command: "sim",
  file: new URL("../../tests/sim/main.ts", import.meta.url),
  stopped: "the seeds that are counted ran whole",
};

/** `sim`: seeds of the simulator, one after the other. */
export function addSim(program: Command, cli: Cli): void {
  const command = program.command("sim").summary(
    "run seeds of the simulator",
  ).description(
    "run service, endpoint, ledger and poller on a virtual clock, with faults " +
      "from seeds, and check every rule",
  );
  jsonOption(command, "one object")
    .option(
      "--seed <n>",
      "first seed",
      (text) => wholeNumber(0, 2 ** 32 - 1)("--seed", text),
      1,
    )
    .option(
      "--runs <n>",
      "how many seeds, one after the other",
      (text) => wholeNumber(1, 1e9)("--runs", text),
      1,
    )
    .option("--keep-going", "continue after a seed that breaks a rule")
    .addOption(
      new Option(
        "--mutations",
        "break the rules on purpose, and report which seed notices",
      ).conflicts(["seed", "runs", "keepGoing"]),
    )
    .addOption(
      new Option(
        "--flood <ids>",
        "invent this many orders, and report how soon real ones are confirmed",
      ).argParser((text) => wholeNumber(1, 1e6)("--flood", text))
        .conflicts(["seed", "runs", "keepGoing", "mutations"]),
    )
    .option(
      "--only <words>",
      "with --mutations: only those whose name contains these words",
    )
    .addHelpText(
      "after",
      "\nNeeds a checkout of the source. Exit code 1 when a rule broke, with the\n" +
        "command that repeats it.\n\n" +
        "Example:\n  rampkit sim --seed 1 --runs 100",
    )
    .action(
      cli.run((flags: SimFlags) =>
        runSourceProgram(cli.io, SIMULATOR, simArguments(flags))
      ),
    );
}

function simArguments(flags: SimFlags): string[] {
  const which = flags.mutations
    ? [
      "--mutations",
      ...(flags.only === undefined ? [] : ["--only", flags.only]),
    ]
    : flags.flood !== undefined
    ? ["--flood", String(flags.flood)]
    : ["--seed", String(flags.seed), "--runs", String(flags.runs)];
  return [
    ...which,
    ...(flags.keepGoing ? ["--keep-going"] : []),
    ...(flags.json ? ["--json"] : []),
  ];
}
