/**
 * The benchmark: every comparison, both sides measured in the same run, in
 * turns, as medians of several rounds; one table of ratios.
 *
 * `deno task bench [--json] [--only NAME] [--burst S] [--sustained S]`
 *
 * @module
 */
import { parseArgs } from "node:util";
import { append } from "./append.ts";
import { client } from "./client_pages.ts";
import { confirm } from "./confirm.ts";
import type { Bench, Comparison } from "./measuring/comparison.ts";
import { deploy } from "./deploy.ts";
import { forward } from "./forward.ts";
import { growth } from "./growth.ts";
import { ingest } from "./ingest.ts";
import { pages } from "./pages.ts";
import { tidyUp } from "./process.ts";
import { refold } from "./refold.ts";
import { json, type Report, text } from "./measuring/report.ts";

const comparisons: readonly Comparison[] = [
  ingest,
  append,
  refold,
  growth,
  forward,
  confirm,
  pages,
  client,
  deploy,
];
const names = comparisons.map(({ name }) => name).join(", ");
const help = `Usage: deno task bench [--json] [--only NAME]...

Compares this project's speed with that of its peers, in about seventeen minutes.

  --json         one JSON object instead of the table
  --only NAME    one comparison of: ${names}
  --burst S      how long a burst of requests lasts, seconds (default 10)
  --sustained S  how long a sustained load lasts, seconds (default 60)

Example: deno task bench --only refold`;

async function measure(
  comparison: Comparison,
  options: Omit<Bench, "say">,
): Promise<Report> {
  const say = (text: string): void =>
    console.error(`${comparison.name}: ${text}`);
  try {
    const rows = await comparison.run({ say, ...options });
    return { comparison, rows, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { comparison, rows: [], problem };
  }
}

interface Choice {
  readonly comparisons: readonly Comparison[];
  readonly asJson: boolean;
  readonly options: Omit<Bench, "say">;
}

function chosen(): Choice {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      json: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      burst: { type: "string", default: "10" },
      sustained: { type: "string", default: "60" },
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
  for (const comparison of choice.comparisons) {
    reports.push(await measure(comparison, choice.options));
  }
  const columns = Deno.stdout.isTerminal() ? Deno.consoleSize().columns : null;
  console.log(choice.asJson ? json(reports) : text(reports, columns));
  Deno.exit(reports.some(({ problem }) => problem !== null) ? 1 : 0);
}
