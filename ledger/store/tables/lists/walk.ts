/**
 * Rows of an index that one page looks through, by its steps: others wait for
 * the database meanwhile, and the first step is enough for most pages.
 */
export const WALK_STEPS: readonly number[] = [2_000, 20_000, 40_000];

/** How an index is walked in steps. */
export interface Walk<Row, Place> {
  /** The place of the last row of a step; null where the index ends before. */
  readonly end: (from: Place | null, rows: number) => Promise<Place | null>;
  /** The chosen rows of a step; to the end of the index, where `to` is null. */
  readonly read: (
    from: Place | null,
    to: Place | null,
  ) => Promise<readonly Row[]>;
}

/**
 * Walks an index until it has more rows than a page, or has looked through as
 * many as one page may.
 *
 * @param from Where it begins; null at the first row.
 * @param size Rows of the page.
 * @param steps Rows that are looked through. @default {WALK_STEPS}
 * @returns The rows, and where it ended; null at the end of the index.
 */
export async function walkIndex<Row, Place>(
  { end, read }: Walk<Row, Place>,
  from: Place | null,
  size: number,
  steps: readonly number[] = WALK_STEPS,
): Promise<{ readonly rows: readonly Row[]; readonly end: Place | null }> {
  const rows: Row[] = [];
  let place = from;
  for (const step of steps) {
    const to = await end(place, step);
    rows.push(...await read(place, to));
    place = to;
    if (to === null || rows.length > size) break;
  }
  return { rows, end: place };
}
