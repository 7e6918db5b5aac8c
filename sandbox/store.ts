/** Rows kept in an order; a row that equals others comes after them. */
export class Sorted<Row> {
  readonly rows: Row[] = [];
  readonly #isBefore: (a: Row, b: Row) => boolean;

  constructor(isBefore: (a: Row, b: Row) => boolean) {
    this.#isBefore = isBefore;
  }

  add(row: Row): void {
    const last = this.rows.at(-1);
    // Rows mostly arrive at the end.
    if (last === undefined || !this.#isBefore(row, last)) this.rows.push(row);
    else this.rows.splice(this.#after(row), 0, row);
  }

  /** Removes the row that equals this one, if it is there. */
  remove(row: Row): void {
    const at = this.#after(row) - 1;
    const found = this.rows[at];
    if (found && !this.#isBefore(found, row)) this.rows.splice(at, 1);
  }

  /** Place behind every row that is not after this one. */
  #after(row: Row): number {
    return firstPlace(this.rows, (other) => this.#isBefore(row, other));
  }
}

/** The first place whose row passes; every row after one that passes does. */
function firstPlace<Row>(
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

/** Where a row stands in a list: by time, then by id. */
export interface Place {
  readonly timeMs: number;
  readonly id: string;
}

export function isBefore(a: Place, b: Place): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.id < b.id);
}

/** Which rows a reader wants, and in which order. */
interface Query<Row> {
  readonly limit: number;
  readonly offset: number;
  readonly ascending: boolean;
  readonly cursorId: string;
  /** Only rows after this time, in milliseconds since the epoch. */
  readonly afterMs: number;
  /** Only rows up to this time, in milliseconds since the epoch. */
  readonly upToMs: number;
  /** Only rows that pass all of these. */
  readonly filters: readonly ((row: Row) => boolean)[];
}

/** A page as the service would cut it. */
interface Page<Row> {
  readonly rows: readonly Row[];
  /** Cursor for what follows; empty when the page was not full. */
  readonly nextCursorId: string;
  readonly total: number;
}

/** Rows by id and by creation, which never changes. */
export class Store<Row> {
  readonly #rows = new Map<string, Row>();
  /** Of removed rows too: a cursor may name them. */
  readonly #places = new Map<string, Place>();
  readonly #sorted = new Sorted<Place>(isBefore);
  readonly #what: string;
  readonly #placeOf: (row: Row) => Place;

  constructor(what: string, placeOf: (row: Row) => Place) {
    this.#what = what;
    this.#placeOf = placeOf;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Time of the newest row, or null. */
  get newestMs(): number | null {
    return this.#sorted.rows.at(-1)?.timeMs ?? null;
  }

  idOf(row: Row): string {
    return this.#placeOf(row).id;
  }

  get(id: string): Row | null {
    return this.#rows.get(id) ?? null;
  }

  /** The row with this id; throws if there is none. */
  must(id: string): Row {
    const row = this.get(id);
    if (row !== null) return row;
    throw new RangeError(`Cannot find ${this.#what} "${id}" in the sandbox`);
  }

  /** Every row, oldest first. */
  all(): Row[] {
    return this.#rowsAt(this.#sorted.rows);
  }

  /** The rows with this id, or another that they go by. */
  find(id: string): Row[] {
    return this.#rowsAt([{ id }]);
  }

  /** Stores a row, new or changed. */
  put(row: Row): void {
    const place = this.#placeOf(row);
    if (!this.#places.has(place.id)) {
      this.#places.set(place.id, place);
      this.#sorted.add(place);
    }
    this.#rows.set(place.id, row);
  }

  /** Removes a row, as if the service had never had it. */
  remove(id: string): void {
    this.must(id);
    this.#rows.delete(id);
  }

  isCursor(id: string): boolean {
    return id === "" || this.#places.has(id);
  }

  /** The page that `query` asks for, among all rows or some. */
  page(query: Query<Row>, among?: readonly Row[]): Page<Row> {
    const { limit, offset, ascending, cursorId, afterMs, upToMs } = query;
    const places = among === undefined
      ? this.#sorted.rows
      : [...new Set(among)].map(this.#placeOf)
        .sort((a, b) => isBefore(a, b) ? -1 : 1);
    const from = firstPlace(places, ({ timeMs }) => timeMs > afterMs);
    const until = firstPlace(places, ({ timeMs }) => timeMs > upToMs);
    const matching = this.#rowsAt(places.slice(from, until))
      .filter((row) => query.filters.every((passes) => passes(row)));
    if (!ascending) matching.reverse();
    // The cursor names a place in the order of creation, so rows inserted
    // meanwhile neither repeat nor hide others.
    const cursor = this.#places.get(cursorId);
    const after = cursor === undefined ? 0 : firstPlace(matching, (row) => {
      const place = this.#placeOf(row);
      return ascending ? isBefore(cursor, place) : isBefore(place, cursor);
    });
    const rows = matching.slice(offset + after, offset + after + limit);
    const last = rows.at(-1);
    const isFull = last !== undefined && rows.length === limit;
    return {
      rows,
      nextCursorId: isFull ? this.idOf(last) : "",
      total: matching.length,
    };
  }

  #rowsAt(places: readonly Pick<Place, "id">[]): Row[] {
    return places.flatMap(({ id }) => this.#rows.get(id) ?? []);
  }
}
