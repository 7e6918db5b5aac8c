import type { Command } from "commander";
import { COUNTED } from "../../resources/health/conditions.ts";
import { ATTENTION } from "../../resources/wording/outcome.ts";
import { drawTable, operands, shellWord } from "../../resources/views/text.ts";
import { EXIT } from "../../core/settings/errors.ts";
import { stoppable, wholeNumber } from "../../core/settings/values.ts";
import {
  type Cli,
  type Io,
  jsonLine,
  line,
  lines,
  note,
} from "../program/io.ts";
import { progress } from "../program/output.ts";
import { type DemoReport, runDemo } from "../demo/run_demo.ts";
import { jsonOption } from "../program/options.ts";

/** How the demo was asked for. */
interface DemoFlags {
  /** Decides orders and faults. */
  readonly seed: number;
  /** How many orders. */
  readonly orders: number;
  /** Folder of the ledger. */
  readonly folder: string;
  /** Whether any ledger in the folder is replaced. */
  readonly fresh: boolean;
  /** Whether the endpoint is killed halfway. */
  readonly crash: boolean;
  /** Whether the report is printed as JSON. */
  readonly json: boolean;
}

/** Runs the demo, and prints its result. */
async function showDemo(
  io: Io,
  flags: DemoFlags,
): Promise<number> {
  using bar = progress(io, "orders", !flags.json, flags.orders);
  const report = await stoppable(
    io.signal,
    () =>
      runDemo({
        seed: flags.seed,
        orders: flags.orders,
        folder: flags.folder,
        fresh: flags.fresh,
        onReplace: (text) => note(io, text),
        crash: flags.crash,
        signal: io.signal,
        onProgress: (orders) => bar.at(orders),
        onStep: (text) => {
          bar.end();
          if (!flags.json) note(io, text);
        },
      }),
    () =>
      `nothing was compared; the ledger in ${flags.folder} holds what came ` +
      "until then, and the next demo replaces it",
  );
  bar.end();
  if (flags.json) jsonLine(io, report);
  else print(io, report);
  const isFine = report.differences + report.answeredAndMissing +
      report.shop.shippedTwice === 0;
  return isFine ? EXIT.fine : EXIT.disagreement;
}

function print(io: Io, report: DemoReport): void {
  const rows: [string, number][] = [
    ["Orders at the service", report.ordersAtService],
    ["Orders in the ledger", report.ordersInLedger],
    ["Webhooks sent", report.webhooksSent],
    ["  lost", report.webhooksLost],
    ["  repeated", report.webhooksRepeated],
    ["  late or out of order", report.webhooksLate],
    ["Answered 204 and not stored", report.answeredAndMissing],
    ["Orders wrong before the poll", report.wrongBeforePoll],
    ["Differences", report.differences],
    ["Baskets sold", report.shop.sold],
    ["  shipped", report.shop.shipped],
    ["  shipped twice", report.shop.shippedTwice],
  ];
  line(io);
  lines(io, [
    drawTable(
      [{ title: `Seed ${report.seed}` }, { title: "", align: "right" }],
      rows.map(([label, count]) => [label, String(count)]),
      io.columns,
    ),
  ]);
  for (const { orderId, field, service, ledger } of report.differing) {
    line(io, `  ${orderId} ${field}: service ${service}, ledger ${ledger}`);
  }
  line(io);
  line(io, "Waits for a person:");
  for (const { kind, count } of report.shop.waiting) {
    const many = count > COUNTED ? `more than ${COUNTED}` : String(count);
    line(io, `  ${many.padStart(4)}  ${kind}: ${ATTENTION[kind]}`);
  }
  line(io);
  line(io, "The ledger stays until the next demo replaces it. To look inside:");
  const task = startedAs(import.meta.url, io.env("npm_command"));
  const database = `--database-url ${shellWord(report.databaseUrl)}`;
  lines(io, [
    `  ${task} attention ${database}`,
    `  ${task} orders list ${database}`,
    `  ${task} orders explain ${database} ${
      operands(report.exampleOrderId ?? "ID")
    }`,
    `  ${task} ledger verify ${database}`,
    `  ${task} console ${database}`,
  ]);
}

/**
 * What a reader types before another command, so that it runs the program that
 * was started and no other of its name.
 */
export function startedAs(
  module: string,
  npmCommand: string | undefined,
): string {
  if (!module.startsWith("file:")) return "rampkit";
  if (!module.includes("/node_modules/")) {
    return "npx -y deno@2.9.6 task rampkit";
  }
  // The folder in which npx keeps what no project has installed.
  if (module.includes("/_npx/")) return "npx @rampkit/onramp";
  return npmCommand === "exec" ? "npx rampkit" : "rampkit";
}

interface Flags {
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
    .action(cli.run((flags: Flags) => {
      const { fresh = false, crash = false, json = false } = flags;
      return showDemo(cli.io, { ...flags, fresh, crash, json });
    }));
}
