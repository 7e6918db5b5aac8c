/** What a list of rows is sorted by: time, then id. */
interface Row {
  readonly timeMs: number;
  readonly id: string;
}

/**
 * Ids in the order of (time, id). Rows mostly arrive at the end, so insertion
 * walks back from there.
 */
export class SortedIds {
  readonly #rows: Row[] = [];

  /** Adds a row. */
  add(timeMs: number, id: string): void {
    const row = { timeMs, id };
    let at = this.#rows.length;
    while (at > 0) {
      const previous = this.#rows[at - 1];
      if (previous === undefined || !isBefore(row, previous)) break;
      at--;
    }
    this.#rows.splice(at, 0, row);
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
