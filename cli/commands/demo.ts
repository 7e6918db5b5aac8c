import type { Command } from "commander";
import { showDemo } from "../demo/show_demo.ts";
import { jsonOption } from "../program/options.ts";
import { wholeNumber } from "../../core/settings/values.ts";
import type { Cli } from "../program/cli.ts";

interface DemoFlags {
  readonly seed: number;
  readonly orders: number;
  readonly folder: string;
  readonly fresh?: boolean;
  readonly crash?: boolean;
  readonly json?: boolean;
}

/** `demo`: the whole thing on one machine, against a bad network. */
export function addDemo(program: Command, cli: Cli): void {
  const command = program.command("demo").summary(
    "send orders over an unreliable network, and compare",
  ).description(
    "send orders over an unreliable network, and compare the ledger with the service",
  );
  jsonOption(command, "one object")
    .option(
      "--seed <n>",
      "decides orders and faults",
      (text) => wholeNumber(0, 2 ** 32 - 1)("--seed", text),
      1,
    )
    .option(
      "--orders <n>",
      "how many orders",
      (text) => wholeNumber(1, 5000)("--orders", text),
      300,
    )
    .option("--folder <dir>", "where the ledger goes", "rampkit-demo")
    .option(
      "--fresh",
      "replace any ledger in the folder; without it only that of an earlier run",
    )
    .option("--crash", "kill the endpoint's process halfway with SIGKILL")
    .addHelpText(
      "after",
      "\nExit code 3 when they differ at the end.\n\nExample:\n  rampkit demo --seed 7 --orders 500 --crash",
    )
    .action(cli.run((flags: DemoFlags) => {
      const { fresh = false, crash = false, json = false } = flags;
      return showDemo(cli.io, { ...flags, fresh, crash, json });
    }));
}
