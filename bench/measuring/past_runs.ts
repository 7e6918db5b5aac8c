import type { WordTable } from "../../resources/views/table.ts";
import { isBound, type Row } from "./comparison.ts";
import { type MachineFigures, machineText } from "./machine_figures.ts";
import { aimOf, figure, type Report, spreadOf } from "./report.ts";

/** One line of `bench/past_runs.jsonl`: a run, and what it came to. */
export interface PastRun {
  /** Day, UTC. */
  readonly day: string;
  /** The commit that was measured. */
  readonly commit: string;
  /** How long the run took. */
  readonly seconds: number;
  /** Its rows, in its order. */
  readonly rows: readonly KeptRow[];
}

/** What is kept of a row. */
export interface KeptRow extends Omit<Row, "limit" | "details"> {
  /** The machine, just before. */
  readonly machine: MachineFigures;
}

/** Digits that are kept of a figure: more would be noise. */
const DIGITS = 5;

/** The rows of reports, as they are kept. */
export function keptRows(reports: readonly Report[]): readonly KeptRow[] {
  return reports.flatMap(({ rows, machine }) =>
    rows.map(({ limit: _, details: __, ...row }) => ({ ...row, machine }))
  );
}

/** A run as a line. */
export function pastRunLine(run: PastRun): string {
  const line = JSON.stringify(
    run,
    (_, value) =>
      typeof value === "number" ? Number(value.toPrecision(DIGITS)) : value,
  );
  return `${line}\n`;
}

/** Runs that were kept, the oldest first. */
function runsOf(lines: string): readonly PastRun[] {
  return lines.split("\n").filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/**
 * What each row was when it was kept last: its ratio, or the figure itself
 * where that stands alone.
 *
 * @param lines The text of `bench/past_runs.jsonl`, oldest run first.
 */
export function lastFigures(lines: string): ReadonlyMap<string, number> {
  return new Map(
    runsOf(lines).flatMap(({ rows }) =>
      rows.map((row) =>
        [row.name, isBound(row) ? row.ours : row.ratio] as const
      )
    ),
  );
}

/**
 * The table of the run that was kept last; null where none was kept.
 *
 * @param lines The text of `bench/past_runs.jsonl`, oldest run first.
 */
export function lastRunTable(lines: string): WordTable | null {
  const run = runsOf(lines).at(-1);
  if (run === undefined) return null;
  return {
    head: [
      `${run.day}, commit ${run.commit}, ${run.seconds} s`,
      "ours",
      "the other side",
      "ratio",
      "aim",
      "machine",
    ],
    rows: run.rows.map((row) => {
      const { name, ours, theirs, unit, ratio, spread, machine } = row;
      return [
        name,
        `${withSpread(ours, spread.ours)} ${unit}`,
        isBound(row) ? "" : withSpread(theirs, spread.theirs),
        isBound(row) ? "" : figure(ratio),
        aimOf(row),
        machineText(machine),
      ];
    }),
  };
}

function withSpread(median: number, spread: Row["spread"]["ours"]): string {
  return spread === null
    ? figure(median)
    : `${figure(median)} (${spreadOf(spread)})`;
}
