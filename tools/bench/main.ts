/**
 * The benchmark; `rampkit bench` passes its flags on as JSON.
 *
 * @module
 */
import { drawTable, markdownTable } from "../../resources/views/table.ts";
import { wrap } from "../../resources/views/text.ts";
import { MEASUREMENTS } from "./measure.ts";

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

/** Three significant digits, thousands in groups. */
function figure(value: number | null): string {
  if (value === null) return "";
  return value >= 1000
    ? Math.round(value).toLocaleString("en")
    : value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

async function main(): Promise<void> {
  const { only, quick, json, keep } = JSON.parse(Deno.args[0] ?? "{}");
  const [load = 0] = Deno.loadavg();
  const chosen = Object.entries(MEASUREMENTS)
    .filter(([name]) => only === undefined || only.includes(name));
  const rows = [];
  const problems = [];
  for (const [comparison, { rows: described, run }] of chosen) {
    console.error(`Measuring ${comparison} ...`);
    const folder = await Deno.makeTempDir({ prefix: "rampkit-bench-" });
    try {
      const figures = await run(folder, quick ? QUICK : 1);
      for (const [at, [name, unit, aim, bound]] of described.entries()) {
        const [ours = Number.NaN, theirs = null] = figures[at] ?? [];
        const ratio = theirs && ours / theirs;
        const held = ratio ?? ours;
        const holds = aim === ">=" ? held >= bound : held <= bound;
        rows.push({
          ...{ comparison, name, ours, theirs, ratio, unit, aim, bound, holds },
        });
      }
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      console.error(`Not measured: ${comparison}: ${problem}`);
      problems.push({ comparison, problem });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  const cells = rows.map((row) => [
    row.name,
    `${figure(row.ours)} ${row.unit}`,
    figure(row.theirs),
    figure(row.ratio),
    `${row.aim} ${figure(row.bound)}`,
    row.holds ? "yes" : "no",
  ]);
  const notes = chosen.map(([name, { note }]) => [name, note] as const);
  if (json) {
    const report: BenchmarkJson = {
      rows,
      problems,
      notes: Object.fromEntries(notes),
    };
    console.log(JSON.stringify(report));
  } else {
    console.log(drawTable(HEAD.map((title) => ({ title })), cells, null));
    for (const [name, note] of notes) console.log(`\n${name}: ${note}`);
  }
  if (problems.length > 0) Deno.exit(1);
  if (keep) {
    const said = notes.map(([name, note]) => `- **${name}**: ${note}`);
    await Deno.writeTextFile(PAGE, await page(cells, said, load));
  }
}

async function page(
  rows: readonly (readonly string[])[],
  notes: readonly string[],
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
    ...markdownTable({ head: HEAD, rows }),
    "",
    ...notes.map((note) => wrap(note, 80, 2)),
    "",
  ].join("\n");
}

if (import.meta.main) await main();
