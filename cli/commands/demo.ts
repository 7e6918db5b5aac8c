import { type Command, Option } from "commander";
import { showDemo } from "../demo/show_demo.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { jsonOption } from "../program/options.ts";
import { wholeNumber } from "../../core/settings/values.ts";
import {
  runSourceProgram,
  type SourceProgram,
} from "../program/source_program.ts";
import type { Cli } from "../program/cli.ts";

interface DemoFlags {
  readonly seed: number;
  readonly orders: number;
  readonly folder?: string;
  readonly fresh?: boolean;
  readonly crash?: boolean;
  readonly json?: boolean;
  readonly witness?: boolean;
  readonly browser?: boolean;
  readonly port?: number;
}

/** Port of the shop's page unless stated. */
const BROWSER_PORT = 8789;

/** Each demo has its own folder, so that neither deletes the other's ledger. */
const FOLDER = "rampkit-demo";
const BROWSER_FOLDER = "rampkit-demo-browser";

/** Page, style and the official SDK are not in the published package. */
const SHOP: SourceProgram = {
  name: "the shop's page",
  command: "demo --browser",
  file: new URL("../demo/browser/browser_program.ts", import.meta.url),
  permissions: [
    "--allow-net=127.0.0.1",
  ],
  stopped: null,
};

/** The chain's node and the contracts on it are not there either. */
const CHAIN: SourceProgram = {
  name: "the chain of the demo",
  command: "demo --witness",
  file: new URL("../demo/chain/chain_program.ts", import.meta.url),
  permissions: ["--allow-net=127.0.0.1", "--allow-run=deno"],
  stopped: "nothing was compared; the next demo replaces the ledger",
};

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
      wholeNumber("--seed", 0, 2 ** 32 - 1),
      1,
    )
    .option(
      "--orders <n>",
      "how many orders",
      wholeNumber("--orders", 1, 5000),
      300,
    )
    .option(
      "--folder <dir>",
      `where the ledger goes (default: ${FOLDER}; with --browser: ${BROWSER_FOLDER})`,
    )
    .option(
      "--fresh",
      "replace any ledger in the folder; without it only that of an earlier run",
    )
    .option("--crash", "kill the endpoint's process halfway with SIGKILL")
    .addOption(
      new Option(
        "--browser",
        "serve a shop's page instead: buy something, and watch the ledger",
      ).conflicts(["orders", "crash", "json", "witness"]),
    )
    .option(
      "--witness",
      "pay out on a chain of its own (anvil), ask it what arrived, and show all three: asked, confirmed, arrived",
    )
    .option(
      "--port <port>",
      `port of that page, 0 for a free one (default: ${BROWSER_PORT})`,
      wholeNumber("--port", 0, 65_535),
    )
    .addHelpText(
      "after",
      "\nExit code 3 when they differ at the end.\n\nExample:\n  rampkit demo --seed 7 --orders 500 --crash\n  rampkit demo --witness --orders 60\n  rampkit demo --browser",
    )
    .action(cli.run((flags: DemoFlags) => {
      if (flags.browser) {
        return runSourceProgram(cli.io, SHOP, browserArguments(flags));
      }
      if (flags.port !== undefined) {
        throw new UsageError("Wrong --port: it goes with --browser alone");
      }
      if (flags.witness) {
        return runSourceProgram(cli.io, CHAIN, chainArguments(flags));
      }
      const { folder = FOLDER, fresh = false, crash = false } = flags;
      const { json = false } = flags;
      return showDemo(cli.io, { ...flags, folder, fresh, crash, json }, null);
    }));
}

function chainArguments(flags: DemoFlags): string[] {
  const { seed, orders, folder = FOLDER, fresh, crash, json } = flags;
  return [
    ...[`--seed=${seed}`, `--orders=${orders}`, `--folder=${folder}`],
    ...(fresh ? ["--fresh"] : []),
    ...(crash ? ["--crash"] : []),
    ...(json ? ["--json"] : []),
  ];
}

function browserArguments(flags: DemoFlags): string[] {
  const { port = BROWSER_PORT, seed, folder = BROWSER_FOLDER } = flags;
  return [
    `--port=${port}`,
    `--seed=${seed}`,
    `--folder=${folder}`,
    ...(flags.fresh ? ["--fresh"] : []),
  ];
}
