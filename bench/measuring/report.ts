import { drawTable } from "../../resources/views/table.ts";
import {
  type Comparison,
  holds,
  isBound,
  type Row,
  type Spread,
} from "./comparison.ts";
import { type MachineFigures, machineText } from "./machine_figures.ts";

/** What a comparison came to. */
export interface Report {
  /** What was compared. */
  readonly comparison: Pick<Comparison, "name" | "note">;
  /** Its lines; none when it failed. */
  readonly rows: readonly Row[];
  /** Why it failed; null when it did not. */
  readonly problem: string | null;
  /** The machine, just before. */
  readonly machine: MachineFigures;
}

/**
 * The table of ratios, and the notes that say what was compared.
 *
 * @param before What each row was in the last run that was kept.
 * @param columns How wide it may be; null for as wide as it is.
 */
export function text(
  reports: readonly Report[],
  before: ReadonlyMap<string, number>,
  columns: number | null,
): string {
  const rows = reports.flatMap(({ rows }) => rows);
  const table = drawTable(
    [
      { title: "Comparison" },
      { title: "Ours", align: "right" },
      { title: "least..most" },
      { title: "Other", align: "right" },
      { title: "least..most" },
      { title: "Unit" },
      { title: "Ratio", align: "right" },
      { title: "Before", align: "right" },
      { title: "Aim", align: "right" },
      { title: "Holds" },
    ],
    rows.map((row) => [
      row.name,
      figure(row.ours),
      spreadOf(row.spread.ours),
      isBound(row) ? "" : figure(row.theirs),
      spreadOf(row.spread.theirs),
      row.unit,
      isBound(row) ? "" : figure(row.ratio),
      beforeOf(row, before),
      aimOf(row),
      { true: "yes", false: "no", null: "" }[String(holds(row))] ?? "",
    ]),
    columns,
  );
  const details = reports.flatMap(({ rows, machine }) =>
    rows.map((row) => {
      const figures = Object.entries(row.details).map(([name, value]) =>
        `${name} ${typeof value === "number" ? figure(value) : value}`
      );
      const all = [`limit ${row.limit}`, ...figures, machineText(machine)];
      return `${row.name}: ${all.join(", ")}`;
    })
  );
  const notes = reports.map(({ comparison, problem }) =>
    `${comparison.name}: ${comparison.note}` +
    (problem === null ? "" : `\n  NOT MEASURED: ${problem}`)
  );
  return [table, details.join("\n"), notes.join("\n\n")]
    .filter((part) => part !== "").join("\n\n");
}

/** What was measured; its shape follows that, and is not promised. */
export interface BenchmarkJson {
  /** What was compared, and both figures. */
  readonly rows: readonly object[];
  /** Comparisons that failed, and why. */
  readonly problems: readonly object[];
  /** What was compared, by comparison. */
  readonly notes: Readonly<Record<string, string>>;
}

/** The same for programs. */
export function json(reports: readonly Report[]): string {
  const report: BenchmarkJson = {
    rows: reports.flatMap(({ comparison, rows, machine }) =>
      rows.map((row) => ({
        comparison: comparison.name,
        machine,
        ...row,
        holds: holds(row),
      }))
    ),
    problems: reports.filter(({ problem }) => problem !== null)
      .map(({ comparison, problem }) => ({
        comparison: comparison.name,
        problem,
      })),
    notes: Object.fromEntries(
      reports.map(({ comparison }) => [comparison.name, comparison.note]),
    ),
  };
  return JSON.stringify(report);
}

/** Three significant digits, thousands in groups. */
export function figure(value: number): string {
  return value.toLocaleString("en", {
    maximumSignificantDigits: value >= 1000 ? 6 : 3,
    maximumFractionDigits: value >= 1000 ? 0 : 3,
  });
}

/** The least and the most; nothing where there was one figure. */
export function spreadOf(range: Spread | null): string {
  return range === null ? "" : range.map(figure).join("..");
}

/** What was kept of the row: its ratio, or its figure where it stands alone. */
function beforeOf({ name }: Row, before: ReadonlyMap<string, number>): string {
  const was = before.get(name);
  return was === undefined ? "" : figure(was);
}

/** What is aimed at: `>= 0.65`; nothing where nothing is. */
export function aimOf({ aim }: Pick<Row, "aim">): string {
  if (aim === null) return "";
  return `${aim.at === "least" ? ">=" : "<="} ${figure(aim.bound)}`;
}
