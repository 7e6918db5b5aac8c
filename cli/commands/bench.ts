import type { Command } from "commander";
import type { Cli } from "../program/cli.ts";
import { jsonOption } from "../program/options.ts";
import { wholeNumber } from "../../core/settings/values.ts";
import {
  runSourceProgram,
  type SourceProgram,
} from "../program/source_program.ts";

interface BenchFlags {
  readonly only?: readonly string[];
  readonly json?: boolean;
  readonly burst?: number;
  readonly sustained?: number;
  readonly keep?: boolean;
}

const BENCHMARK: SourceProgram = {
  name: "the benchmark",
  command: "bench",
  file: new URL("../../bench/main.ts", import.meta.url),
  permissions: [
    "--allow-net=127.0.0.1,localhost",
    "--allow-run=deno,npm,sh,wrk",
  ],
  stopped: "there is no table; figures come only from a whole run",
};

/** `bench`: both sides of every comparison of speed. */
export function addBench(program: Command, cli: Cli): void {
  const command = program.command("bench").summary(
    "measure speed against comparable software",
  ).description(
    "measure speed against comparable software, both in one run (10 minutes)",
  );
  jsonOption(command, "one object")
    .option(
      "--only <name...>",
      "comparisons: ingest, append, refold, growth, remote, forward, confirm, " +
        "client, deploy",
    )
    .option(
      "--burst <seconds>",
      "how long a burst of requests lasts (default: 4)",
      wholeNumber("--burst", 1, 3600),
    )
    .option(
      "--sustained <seconds>",
      "how long a sustained load lasts (default: 60)",
      wholeNumber("--sustained", 1, 3600),
    )
    .option(
      "--keep",
      "append the figures to bench/past_runs.jsonl, with which the next runs " +
        "are compared; BENCHMARK.md prints the last figures",
    )
    .addHelpText(
      "after",
      "\nNeeds a checkout of the source, and npm for the peers.\n\n" +
        "Example:\n  rampkit bench --only refold",
    )
    .action(
      cli.run((flags: BenchFlags) =>
        runSourceProgram(cli.io, BENCHMARK, [
          ...(flags.only ?? []).flatMap((name) => ["--only", name]),
          ...optional("--burst", flags.burst),
          ...optional("--sustained", flags.sustained),
          ...(flags.json ? ["--json"] : []),
          ...(flags.keep ? ["--keep"] : []),
        ])
      ),
    );
}

function optional(flag: string, value: number | undefined): string[] {
  return value === undefined ? [] : [flag, String(value)];
}
