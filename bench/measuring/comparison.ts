import { median } from "./rounds.ts";

/** One line of the table: two sides, measured in the same run. */
export interface Row {
  /** What is compared. */
  readonly name: string;
  /** What this project measured. */
  readonly ours: number;
  /** What the other side measured; the aim itself where there is none. */
  readonly theirs: number;
  /** Unit of both. */
  readonly unit: string;
  /** `ours / theirs`. */
  readonly ratio: number;
  /** The least and the most that a round measured; null for a single figure. */
  readonly spread: {
    /** Of ours. */
    readonly ours: Spread | null;
    /** Of the other side. */
    readonly theirs: Spread | null;
  };
  /** Which resource holds ours back, and the figures that say so. */
  readonly limit: string;
  /** What the ratio, or ours, is to be; null where nothing is aimed at. */
  readonly aim: Aim | null;
  /** Further figures worth a look, in the order they are shown. */
  readonly details: Readonly<Record<string, number | string>>;
}

/** The least and the most of several rounds. */
export type Spread = readonly [least: number, most: number];

/** What a figure is to be. */
export interface Aim {
  /** Whether `bound` is the least or the most it may be. */
  readonly at: "least" | "most";
  /** The bound. */
  readonly bound: number;
  /** The figure; the ratio unless it says otherwise. */
  readonly of: number;
}

/** What a comparison is given. */
export interface Bench {
  /** Says on the way what it does. */
  readonly say: (text: string) => void;
  /** How long a burst of requests lasts, seconds. */
  readonly burstSeconds: number;
  /** How long a sustained load lasts, seconds. */
  readonly sustainedSeconds: number;
}

/** Lines that are measured together. */
export interface Comparison {
  /** Name for `--only`. */
  readonly name: string;
  /** What each side does and does not do, in full sentences. */
  readonly note: string;
  /** Measures. */
  readonly run: (bench: Bench) => Promise<Row[]>;
}

/** Whether the aim of a row holds; null where there is none. */
export function holds({ aim }: Row): boolean | null {
  if (aim === null) return null;
  return aim.at === "least" ? aim.of >= aim.bound : aim.of <= aim.bound;
}

/** Whether the figure of a row stands alone, with nothing measured beside it. */
export function isBound({ aim, ours }: Pick<Row, "aim" | "ours">): boolean {
  return aim !== null && aim.of === ours;
}

/**
 * The row of two sides: their medians, and the ratio of these.
 *
 * @param name What is compared.
 * @param sides What each measured, round by round, and what is aimed at for
 * the ratio.
 */
export function ratioRow(
  name: string,
  { ours, theirs, unit, at, bound, limit, details = {} }: {
    readonly ours: readonly number[];
    readonly theirs: readonly number[];
    readonly unit: string;
    readonly at: Aim["at"];
    readonly bound: number | null;
    readonly limit: string;
    readonly details?: Row["details"];
  },
): Row {
  const ratio = median(ours) / median(theirs);
  return {
    name,
    ours: median(ours),
    theirs: median(theirs),
    unit,
    ratio,
    spread: { ours: spreadOf(ours), theirs: spreadOf(theirs) },
    aim: bound === null ? null : { at, bound, of: ratio },
    limit,
    details,
  };
}

/**
 * The row of a figure that has a bound and no other side.
 *
 * @param name What is bounded.
 * @param figures What was measured, round by round, and the most its median
 * may be.
 */
export function boundRow(
  name: string,
  { ours, most, unit, limit, details = {} }: {
    readonly ours: readonly number[];
    readonly most: number;
    readonly unit: string;
    readonly limit: string;
    readonly details?: Row["details"];
  },
): Row {
  const figure = median(ours);
  return {
    name,
    ours: figure,
    theirs: most,
    unit,
    ratio: figure / most,
    spread: { ours: spreadOf(ours), theirs: null },
    aim: { at: "most", bound: most, of: figure },
    limit,
    details,
  };
}

function spreadOf(figures: readonly number[]): Spread | null {
  return figures.length < 2
    ? null
    : [Math.min(...figures), Math.max(...figures)];
}
