/** What a list of rows is sorted by: time, then id. */
interface Row {
  readonly timeMs: number;
  readonly id: string;
}

/** Ids in the order of (time, id). */
export class SortedIds {
  readonly #rows: Row[] = [];

  /** Adds a row. */
  add(timeMs: number, id: string): void {
    const row = { timeMs, id };
    const last = this.#rows.at(-1);
    // Rows mostly arrive at the end.
    if (last === undefined || !isBefore(row, last)) this.#rows.push(row);
    else this.#rows.splice(this.#placeOf(row), 0, row);
  }

  /** Removes a row, if it is there. */
  remove(timeMs: number, id: string): void {
    const at = this.#placeOf({ timeMs, id }) - 1;
    if (this.#rows[at]?.id === id) this.#rows.splice(at, 1);
  }

  /** The id at a place of the order, or null. */
  at(place: number): string | null {
    return this.#rows[place]?.id ?? null;
  }

  /** Number of rows. */
  get size(): number {
    return this.#rows.length;
  }

  /** Ids with time after `afterMs` and up to `upToMs`, ascending. */
  between(afterMs: number, upToMs: number): string[] {
    const from = this.#firstAfter(afterMs);
    const until = this.#firstAfter(upToMs);
    return this.#rows.slice(from, until).map((row) => row.id);
  }

  /** The latest row, or null. */
  get last(): Row | null {
    return this.#rows.at(-1) ?? null;
  }

  /** Behind every row that is not after this one. */
  #placeOf(row: Row): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#rows[middle];
      if (other !== undefined && !isBefore(row, other)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #firstAfter(timeMs: number): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = this.#rows[middle];
      if (row !== undefined && row.timeMs <= timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(a: Row, b: Row): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.id < b.id);
}
