import { firstPlace, Sorted } from "./sorted.ts";

/** Where a row stands in a list: by time, then by id. */
export interface Place {
  readonly timeMs: number;
  readonly id: string;
}

export function isBefore(a: Place, b: Place): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.id < b.id);
}

/** Which rows a reader wants, and in which order. */
export interface Query<Row> {
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
export interface Page<Row> {
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
    return this.#sorted.rows.flatMap(({ id }) => this.#rows.get(id) ?? []);
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
    this.#rows.delete(id);
  }

  isCursor(id: string): boolean {
    return id === "" || this.#places.has(id);
  }

  /** The page that `query` asks for among some rows, at most `most` long. */
  page(query: Query<Row>, most: number, among?: Iterable<Row>): Page<Row> {
    const { limit, offset, ascending, afterMs, upToMs } = query;
    const rows = among === undefined
      ? this.#between(afterMs, upToMs)
      : [...new Set(among)].filter((row) => {
        const { timeMs } = this.#placeOf(row);
        return timeMs > afterMs && timeMs <= upToMs;
      }).sort((a, b) => isBefore(this.#placeOf(a), this.#placeOf(b)) ? -1 : 1);
    const matching = rows.filter((row) =>
      query.filters.every((passes) => passes(row))
    );
    if (!ascending) matching.reverse();
    const from = offset + this.#afterCursor(matching, query);
    const length = Math.min(limit, most);
    const page = matching.slice(from, from + length);
    const last = page.at(-1);
    const isFull = last !== undefined && page.length === length;
    return {
      rows: page,
      nextCursorId: isFull ? this.#placeOf(last).id : "",
      total: matching.length,
    };
  }

  #between(afterMs: number, upToMs: number): Row[] {
    const { rows } = this.#sorted;
    const from = firstPlace(rows, ({ timeMs }) => timeMs > afterMs);
    const until = firstPlace(rows, ({ timeMs }) => timeMs > upToMs);
    return rows.slice(from, until).flatMap(({ id }) =>
      this.#rows.get(id) ?? []
    );
  }

  /**
   * Where the page after the cursor's row begins. The cursor names a place in
   * the order of creation, so rows inserted meanwhile neither repeat nor hide
   * others.
   */
  #afterCursor(
    matching: readonly Row[],
    { cursorId, ascending }: Query<Row>,
  ): number {
    const cursor = this.#places.get(cursorId);
    if (cursor === undefined) return 0;
    return firstPlace(matching, (row) => {
      const place = this.#placeOf(row);
      return ascending ? isBefore(cursor, place) : isBefore(place, cursor);
    });
  }
}
