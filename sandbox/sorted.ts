/** Rows kept in an order; a row that equals others comes after them. */
export class Sorted<Row> {
  readonly rows: Row[] = [];
  readonly #isBefore: (a: Row, b: Row) => boolean;

  constructor(isBefore: (a: Row, b: Row) => boolean) {
    this.#isBefore = isBefore;
  }

  /** Adds a row, and gives its place. */
  add(row: Row): number {
    const last = this.rows.at(-1);
    // Rows mostly arrive at the end.
    if (last === undefined || !this.#isBefore(row, last)) {
      return this.rows.push(row) - 1;
    }
    const place = this.#after(row);
    this.rows.splice(place, 0, row);
    return place;
  }

  /** Removes the row that equals this one, if it is there. */
  remove(row: Row): void {
    const at = this.#after(row) - 1;
    const found = this.rows[at];
    if (found !== undefined && !this.#isBefore(found, row)) {
      this.rows.splice(at, 1);
    }
  }

  /** Place behind every row that is not after this one. */
  #after(row: Row): number {
    return firstPlace(this.rows, (other) => this.#isBefore(row, other));
  }
}

/** The first place whose row passes; every row after one that passes does. */
export function firstPlace<Row>(
  rows: readonly Row[],
  passes: (row: Row) => boolean,
): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(rows[middle] as Row)) high = middle;
    else low = middle + 1;
  }
  return low;
}
