/** How entries of a sorted list are ordered, and how equal ones are merged. */
export interface ListRule<Entry> {
  /** Negative, zero or positive; zero for entries that are kept as one. */
  readonly compare: (a: Entry, b: Entry) => number;
  /** Makes one of two equal entries; without it the known one stays. */
  readonly merge?: (known: Entry, added: Entry) => Entry;
}

/** Adds an entry to a sorted list in which no two entries are equal. */
export function addSorted<Entry>(
  entries: readonly Entry[],
  added: Entry,
  { compare, merge = (known) => known }: ListRule<Entry>,
): readonly Entry[] {
  let at = 0;
  for (const known of entries) {
    const order = compare(known, added);
    if (order === 0) {
      const merged = merge(known, added);
      return merged === known ? entries : entries.with(at, merged);
    }
    if (order > 0) break;
    at++;
  }
  return entries.toSpliced(at, 0, added);
}

/**
 * Keeps all entries that this version knows and the first of the others, so
 * that a list stays bounded whatever is sent.
 */
export function boundUnknown<Entry>(
  entries: readonly Entry[],
  isKnown: (entry: Entry) => boolean,
  count: number,
): readonly Entry[] {
  const first = entries.findIndex((entry) => !isKnown(entry));
  return first === -1 || entries.length <= first + count
    ? entries
    : entries.slice(0, first + count);
}

/**
 * Orders two records by some of their fields, one after the other. Null comes
 * before every text.
 */
export function compareFields<Field extends string>(
  a: Readonly<Record<Field, string | null>>,
  b: Readonly<Record<Field, string | null>>,
  fields: readonly Field[],
): number {
  for (const field of fields) {
    const left = a[field];
    const right = b[field];
    if (left === right) continue;
    if (left === null) return -1;
    if (right === null) return 1;
    return compareText(left, right);
  }
  return 0;
}

/** Orders two texts by their code units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
