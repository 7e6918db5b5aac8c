/** How entries of a sorted list are ordered, and what becomes of equal ones. */
export interface ListRule<Entry> {
  /** Negative, zero or positive; zero for entries that are kept as one. */
  readonly compare: (a: Entry, b: Entry) => number;
  /** Makes one of two equal entries; `known` itself when nothing is new. */
  readonly merge: (known: Entry, added: Entry) => Entry;
}

/**
 * Adds an entry to a sorted list in which no two entries are equal.
 *
 * @param entries The list; not changed.
 * @param added The entry.
 * @param rule How entries are ordered and merged.
 * @returns The list with the entry; `entries` itself when nothing is new.
 */
export function addSorted<Entry>(
  entries: readonly Entry[],
  added: Entry,
  { compare, merge }: ListRule<Entry>,
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
 *
 * @param entries The list; entries that are not known come last.
 * @param isKnown Whether this version knows the entry.
 * @param count How many of the others are kept.
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

/** Orders two texts by their code units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
