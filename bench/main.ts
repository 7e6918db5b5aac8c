/**
 * The benchmark: every comparison, both sides measured in the same run, in
 * turns, as medians of several rounds; one table of ratios.
 *
 * `deno task bench [--json] [--only NAME] [--burst S] [--sustained S] [--keep]`
 *
 * @module
 */
import { parseArgs } from "node:util";
import { append } from "./emmett/append.ts";
import { client } from "./client_pages.ts";
import { confirm } from "./confirm.ts";
import type { Bench, Comparison } from "./measuring/comparison.ts";
import { deploy } from "./deploy.ts";
import { forward } from "./forward.ts";
import { machineFigures } from "./measuring/machine_figures.ts";
import { keptRows, lastFigures, pastRunLine } from "./measuring/past_runs.ts";
import { growth } from "./growth.ts";
import { ingest } from "./ingest.ts";
import { tidyUp } from "./process.ts";
import { remote } from "./remote.ts";
import { refold } from "./refold.ts";
import { json, type Report, text } from "./measuring/report.ts";

const comparisons: readonly Comparison[] = [
  ingest,
  append,
  refold,
  growth,
  remote,
  forward,
  confirm,
  client,
  deploy,
];
const names = comparisons.map(({ name }) => name).join(", ");
const help = `Usage: deno task bench [--json] [--only NAME]...

Compares this project's speed with that of its peers, in about ten minutes.

  --json         one JSON object instead of the table
  --only NAME    one comparison of: ${names}
  --burst S      how long a burst of requests lasts, seconds (default 4)
  --sustained S  how long a sustained load lasts, seconds (default 60)
  --keep         append what it came to to bench/past_runs.jsonl, with which the
                 next runs compare, and of which BENCHMARK.md prints the last

Example: deno task bench --only refold`;

async function measure(
  comparison: Comparison,
  options: Omit<Bench, "say">,
): Promise<Report> {
  const say = (text: string): void =>
    console.error(`${comparison.name}: ${text}`);
  const machine = await machineFigures();
  const start = performance.now();
  try {
    const rows = await comparison.run({ say, ...options });
    const seconds = Math.round((performance.now() - start) / 1000);
    say(`took ${seconds} s`);
    return { comparison, rows, problem: null, machine };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { comparison, rows: [], problem, machine };
  }
}

/** Runs that were kept, a line each, the oldest first. */
const PAST_RUNS = new URL("./past_runs.jsonl", import.meta.url);

/** Appends what a run came to. */
async function keep(
  reports: readonly Report[],
  seconds: number,
): Promise<void> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", "git rev-parse --short HEAD 2>/dev/null || echo unknown"],
    cwd: new URL(".", PAST_RUNS),
    stdin: "null",
  }).output();
  const line = pastRunLine({
    day: new Date().toISOString().slice(0, 10),
    commit: new TextDecoder().decode(stdout).trim(),
    seconds,
    rows: keptRows(reports),
  });
  await Deno.writeTextFile(PAST_RUNS, line, { append: true });
}

interface Choice {
  readonly comparisons: readonly Comparison[];
  readonly asJson: boolean;
  readonly keep: boolean;
  readonly options: Omit<Bench, "say">;
}

function chosen(): Choice {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      json: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      burst: { type: "string", default: "4" },
      sustained: { type: "string", default: "60" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    console.log(help);
    Deno.exit(0);
  }
  for (const name of values.only) {
    if (comparisons.some((comparison) => comparison.name === name)) continue;
    throw new TypeError(`No comparison is called ${name}; there are ${names}`);
  }
  return {
    asJson: values.json,
    keep: values.keep,
    options: {
      burstSeconds: secondsOf("--burst", values.burst),
      sustainedSeconds: secondsOf("--sustained", values.sustained),
    },
    comparisons: values.only.length === 0
      ? comparisons
      : comparisons.filter(({ name }) => values.only.includes(name)),
  };
}

function secondsOf(flag: string, text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds > 0 && seconds <= 3_600) {
    return seconds;
  }
  throw new RangeError(`${flag} takes whole seconds, 1 to 3600: ${text}`);
}

if (import.meta.main) {
  let choice: Choice;
  try {
    choice = chosen();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    console.error(help);
    Deno.exit(2);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      try {
        tidyUp();
      } finally {
        Deno.exit(1);
      }
    });
  }
  const reports: Report[] = [];
  const start = performance.now();
  for (const comparison of choice.comparisons) {
    reports.push(await measure(comparison, choice.options));
  }
  const seconds = Math.round((performance.now() - start) / 1000);
  console.error(`all took ${seconds} s`);
  const columns = Deno.stdout.isTerminal() ? Deno.consoleSize().columns : null;
  const before = lastFigures(await Deno.readTextFile(PAST_RUNS));
  console.log(choice.asJson ? json(reports) : text(reports, before, columns));
  if (choice.keep) await keep(reports, seconds);
  Deno.exit(reports.some(({ problem }) => problem !== null) ? 1 : 0);
}
