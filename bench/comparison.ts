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
  /** What the ratio, or ours, is to be; null where nothing is aimed at. */
  readonly aim: Aim | null;
  /** Further figures worth a look, in the order they are shown. */
  readonly details: Readonly<Record<string, number>>;
}

/** What a figure is to be. */
export interface Aim {
  /** Whether `bound` is the least or the most it may be. */
  readonly at: "least" | "most";
  /** The bound. */
  readonly bound: number;
  /** The figure; the ratio unless it says otherwise. */
  readonly of: number;
}

/** Lines that are measured together. */
export interface Comparison {
  /** Name for `--only`. */
  readonly name: string;
  /** What each side does and does not do, in full sentences. */
  readonly note: string;
  /** Measures. Says on the way what it does. */
  readonly run: (say: (text: string) => void) => Promise<Row[]>;
}

/** Whether the aim of a row holds; null where there is none. */
export function holds({ aim }: Row): boolean | null {
  if (aim === null) return null;
  return aim.at === "least" ? aim.of >= aim.bound : aim.of <= aim.bound;
}

/**
 * The row of two rates.
 *
 * @param name What is compared.
 * @param sides Both, and what is aimed at for their ratio.
 */
export function ratioRow(
  name: string,
  { ours, theirs, unit, at, bound, details = {} }: {
    readonly ours: number;
    readonly theirs: number;
    readonly unit: string;
    readonly at: Aim["at"];
    readonly bound: number | null;
    readonly details?: Row["details"];
  },
): Row {
  const ratio = ours / theirs;
  return {
    name,
    ours,
    theirs,
    unit,
    ratio,
    aim: bound === null ? null : { at, bound, of: ratio },
    details,
  };
}

/**
 * The row of a figure that has a bound and no other side.
 *
 * @param name What is bounded.
 * @param figure The figure and the most it may be.
 */
export function boundRow(
  name: string,
  { ours, most, unit, details = {} }: {
    readonly ours: number;
    readonly most: number;
    readonly unit: string;
    readonly details?: Row["details"];
  },
): Row {
  return {
    name,
    ours,
    theirs: most,
    unit,
    ratio: ours / most,
    aim: { at: "most", bound: most, of: ours },
    details,
  };
}
