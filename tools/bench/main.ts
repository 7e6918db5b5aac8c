/**
 * The benchmark: `deno task bench [--only NAME]... [--quick] [--json] [--keep]`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { drawTable, markdownTable } from "../../resources/views/table.ts";
import { wrap } from "../../resources/views/text.ts";
import { MEASUREMENTS, type Row } from "./measure.ts";

/** What was measured; its shape follows that, and is not promised. */
export interface BenchmarkJson {
  /** What was measured, and both figures where there are two. */
  readonly rows: readonly object[];
  /** Measurements that failed, and why. */
  readonly problems: readonly object[];
  /** What was done, by measurement. */
  readonly notes: Readonly<Record<string, string>>;
}

const PAGE = new URL("../../docs/reference/benchmark.md", import.meta.url);

/** What `--quick` does of the usual work. */
const QUICK = 0.1;

const HEAD = ["", "Ours", "The other side", "Ratio", "Aim", "Holds"];

function ratioOf({ ours, theirs }: Row): number | null {
  return theirs === null ? null : ours / theirs;
}

function holds(row: Row): boolean {
  const figure = ratioOf(row) ?? row.ours;
  const { at, bound } = row.aim;
  return at === "least" ? figure >= bound : figure <= bound;
}

/** Three significant digits, thousands in groups. */
function figure(value: number): string {
  return value >= 1000
    ? Math.round(value).toLocaleString("en")
    : value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function cells(row: Row): string[] {
  const ratio = ratioOf(row);
  return [
    row.name,
    `${figure(row.ours)} ${row.unit}`,
    row.theirs === null ? "" : figure(row.theirs),
    ratio === null ? "" : figure(ratio),
    `${row.aim.at === "least" ? ">=" : "<="} ${figure(row.aim.bound)}`,
    holds(row) ? "yes" : "no",
  ];
}

async function page(
  rows: readonly Row[],
  notes: readonly (readonly [string, string])[],
  load: number,
): Promise<string> {
  const { stdout } = await new Deno.Command("git", {
    args: ["rev-parse", "--short", "HEAD"],
    cwd: new URL(".", PAGE),
    stderr: "null",
  }).output();
  const commit = new TextDecoder().decode(stdout).trim();
  const day = new Date().toISOString().slice(0, 10);
  return [
    "# How fast it is",
    "",
    wrap(
      `Measured on ${day} at ${commit} by \`deno task bench --keep\`, on a ` +
        `machine with ${navigator.hardwareConcurrency} cores, whatever ` +
        "generates the load included, where a load average of " +
        `${load.toFixed(1)} was other work. Compare ratios between machines, ` +
        "and not figures; other work spoils both.",
      80,
      0,
    ),
    "",
    ...markdownTable({ head: HEAD, rows: rows.map(cells) }),
    "",
    ...notes.map(([name, note]) => wrap(`- **${name}**: ${note}`, 80, 2)),
    "",
  ].join("\n");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      only: { type: "string", multiple: true, default: [] },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  const names = Object.keys(MEASUREMENTS);
  for (const name of values.only) {
    if (names.includes(name)) continue;
    console.error(
      `Wrong --only: ${name}; there are ${names.join(", ")}`,
    );
    Deno.exit(2);
  }
  if (values.keep && (values.quick || values.only.length > 0)) {
    console.error(
      "Wrong --keep: it keeps a whole run, without --only or --quick",
    );
    Deno.exit(2);
  }
  const measured: (Row & { readonly comparison: string })[] = [];
  const problems: { readonly comparison: string; readonly problem: string }[] =
    [];
  const [load = 0] = Deno.loadavg();
  const chosen = Object.entries(MEASUREMENTS).filter(([name]) =>
    values.only.length === 0 || values.only.includes(name)
  );
  for (const [comparison, { run }] of chosen) {
    console.error(`Measuring ${comparison} ...`);
    const folder = await Deno.makeTempDir({ prefix: "rampkit-bench-" });
    try {
      const rows = await run(folder, values.quick ? QUICK : 1);
      measured.push(...rows.map((row) => ({ comparison, ...row })));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      problems.push({ comparison, problem });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  const notes = chosen.map(([name, { note }]) => [name, note] as const);
  if (values.json) {
    const report: BenchmarkJson = {
      rows: measured.map((row) => ({
        ...row,
        ratio: ratioOf(row),
        holds: holds(row),
      })),
      problems,
      notes: Object.fromEntries(notes),
    };
    console.log(JSON.stringify(report));
  } else {
    const columns = HEAD.map((title) => ({ title }));
    console.log(drawTable(columns, measured.map(cells), null));
    for (const [name, note] of notes) console.log(`\n${name}: ${note}`);
  }
  for (const { comparison, problem } of problems) {
    console.error(`Not measured: ${comparison}: ${problem}`);
  }
  if (problems.length > 0) Deno.exit(1);
  if (values.keep) {
    await Deno.writeTextFile(PAGE, await page(measured, notes, load));
  }
}

if (import.meta.main) await main();
