import { type Command, Option } from "commander";
import type { Cli } from "../program/io.ts";
import { jsonOption } from "../program/options.ts";
import {
  runSourceProgram,
  type SourceProgram,
} from "../program/source_program.ts";

const BENCHMARK: SourceProgram = {
  name: "the benchmark",
  command: "bench",
  file: new URL("../../tools/bench/main.ts", import.meta.url),
  permissions: [
    "--allow-net=127.0.0.1,localhost",
    "--allow-run=deno,npm",
  ],
  stopped: "there is no table; figures come only from a whole run",
};

/** `bench`: how fast it is, beside what it is to be. */
export function addBench(program: Command, cli: Cli): void {
  const command = program.command("bench").summary(
    "measure speed beside what it is to be",
  ).description(
    "measure how fast deliveries are received, confirmed, folded and verified, " +
      "beside what that is to be and, where there is one, beside a peer in the " +
      "same run (5 minutes)",
  );
  jsonOption(command, "one object")
    .addOption(
      new Option("--only <name...>", "measurements")
        .choices(["receive", "confirm", "new_order", "refold", "append"]),
    )
    .option("--quick", "do a tenth of the work, for a look")
    .addOption(
      new Option("--keep", "write the figures into docs/reference/benchmark.md")
        .conflicts(["only", "quick"]),
    )
    .addHelpText(
      "after",
      "\nNeeds a checkout of the source, and npm for the peer.\n\n" +
        "Example:\n  rampkit bench --only refold",
    )
    .action(
      cli.run((flags: object) =>
        runSourceProgram(cli.io, BENCHMARK, [JSON.stringify(flags)])
      ),
    );
}
