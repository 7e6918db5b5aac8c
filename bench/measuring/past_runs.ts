import { isBound, type Row } from "./comparison.ts";
import type { MachineFigures } from "./machine_figures.ts";

/** One line of `bench/past_runs.jsonl`: a run, and what it came to. */
export interface PastRun {
  /** Day, UTC. */
  readonly day: string;
  /** The commit that was measured. */
  readonly commit: string;
  /** The machine, at the beginning of the run. */
  readonly machine: MachineFigures;
  /** By name of the row: its ratio, or the figure itself where it is alone. */
  readonly figures: Readonly<Record<string, number>>;
}

/** Digits that are kept: more would be noise. */
const DIGITS = 3;

/** The figures of rows, as they are kept and compared. */
export function keptFigures(rows: readonly Row[]): PastRun["figures"] {
  return Object.fromEntries(rows.map((row) => [
    row.name,
    Number((isBound(row) ? row.ours : row.ratio).toPrecision(DIGITS)),
  ]));
}

/**
 * What each row was when it was kept last.
 *
 * @param lines The text of `bench/past_runs.jsonl`, oldest run first.
 */
export function lastFigures(lines: string): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const line of lines.split("\n")) {
    if (line === "") continue;
    const { figures } = JSON.parse(line) as PastRun;
    for (const [name, figure] of Object.entries(figures)) {
      last.set(name, figure);
    }
  }
  return last;
}

/** A run as a line. */
export function pastRunLine(run: PastRun): string {
  return JSON.stringify(run) + "\n";
}
