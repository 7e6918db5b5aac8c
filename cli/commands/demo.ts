import { type Command, Option } from "commander";
import { type DemoReport, runDemo } from "../demo/run_demo.ts";
import { EXIT, UsageError } from "../../settings/errors.ts";
import { type Io, jsonLine, line, lines, note } from "../program/io.ts";
import { jsonOption } from "../program/options.ts";
import { wholeNumber } from "../../settings/values.ts";
import {
  runSourceProgram,
  type SourceProgram,
} from "../program/source_program.ts";
import { progress } from "../program/progress.ts";
import type { Cli } from "../program/cli.ts";
import { operands, shellWord } from "../../resources/views/shell_word.ts";
import { startedAs } from "../demo/started_as.ts";
import { stoppable } from "../../settings/stoppable.ts";
import { drawTable } from "../../resources/views/table.ts";

interface DemoFlags {
  readonly seed: number;
  readonly orders: number;
  readonly folder?: string;
  readonly fresh?: boolean;
  readonly crash?: boolean;
  readonly json?: boolean;
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
  file: new URL("../demo/browser/main.ts", import.meta.url),
  permissions: [
    "--allow-env",
    "--allow-sys",
    "--allow-ffi",
    "--allow-read",
    "--allow-write",
    "--allow-net=127.0.0.1",
  ],
  stopped: null,
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
      ).conflicts(["orders", "crash", "json"]),
    )
    .option(
      "--port <port>",
      `port of that page, 0 for a free one (default: ${BROWSER_PORT})`,
      wholeNumber("--port", 0, 65_535),
    )
    .addHelpText(
      "after",
      "\nExit code 3 when they differ at the end.\n\nExample:\n  rampkit demo --seed 7 --orders 500 --crash\n  rampkit demo --browser",
    )
    .action(cli.run((flags: DemoFlags) => {
      if (flags.browser) {
        return runSourceProgram(cli.io, SHOP, browserArguments(flags));
      }
      if (flags.port === undefined) return demo(cli.io, flags);
      throw new UsageError("Wrong --port: it goes with --browser alone");
    }));
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

async function demo(io: Io, flags: DemoFlags): Promise<number> {
  const folder = flags.folder ?? FOLDER;
  using bar = progress(io, "orders", !flags.json, flags.orders);
  const report = await stoppable(
    io.signal,
    () =>
      runDemo({
        seed: flags.seed,
        orders: flags.orders,
        folder,
        fresh: flags.fresh ?? false,
        onReplace: (text) => note(io, text),
        crash: flags.crash ?? false,
        signal: io.signal,
        onProgress: (orders) => bar.at(orders),
        onStep: (text) => {
          bar.end();
          if (!flags.json) note(io, text);
        },
      }),
    () =>
      `nothing was compared; the ledger in ${folder} holds what came ` +
      "until then, and the next demo replaces it",
  );
  bar.end();
  if (flags.json) jsonLine(io, report);
  else print(io, report);
  return report.differences + report.answeredAndMissing === 0
    ? EXIT.fine
    : EXIT.disagreement;
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
  line(io, "The ledger stays until the next demo replaces it. To look inside:");
  const task = startedAs(import.meta.url, io.env("npm_command"));
  const database = `--database-url ${shellWord(report.databaseUrl)}`;
  lines(io, [
    `  ${task} orders list ${database}`,
    `  ${task} orders explain ${database} ${
      operands(report.exampleOrderId ?? "ID")
    }`,
    `  ${task} ledger verify ${database}`,
    `  ${task} console ${database}`,
  ]);
}
