import type { SqlValue } from "../driver/driver.ts";

/** A row: its short columns, no bytes among them. */
type Row = readonly SqlValue[];

/**
 * Rows for one statement of which most columns say the same in many rows, as
 * statuses do. What such columns say together is passed once. For a short row,
 * SQLite needs far longer to read a value out of JSON than to store it, so that
 * a row with 13 such columns of 16 is inserted in a quarter of the time.
 *
 * @example Two rows that say the same but for their name
 * ```ts
 * import { RepeatedRows } from "./repeated_rows.ts";
 * import assert from "node:assert/strict";
 *
 * const lights = new RepeatedRows(3, [1, 2]);
 * assert.equal(
 *   lights.pack([["hall", "on", 9], ["attic", "on", 9]]),
 *   '{"once":[["on",9]],"rows":[[0,"hall"],[0,"attic"]]}',
 * );
 * assert.deepEqual(lights.sql, ["w.value ->> 1", "o.c1", "o.c2"]);
 * ```
 */
export class RepeatedRows {
  /** SQL of each column of a row that {@linkcode from} selects, in order. */
  readonly sql: readonly string[];
  readonly #repeated: readonly number[];
  readonly #own: readonly number[];

  /**
   * @param count How many columns a row has.
   * @param repeated Places of the columns that say the same in many rows.
   */
  constructor(count: number, repeated: readonly number[]) {
    const places = Array.from({ length: count }, (_, place) => place);
    this.#repeated = repeated;
    this.#own = places.filter((place) => !repeated.includes(place));
    this.sql = places.map((place) =>
      repeated.includes(place)
        ? `o.c${place}`
        : `w.value ->> ${1 + this.#own.indexOf(place)}`
    );
  }

  /** The rows as one argument of a statement. */
  pack(rows: readonly Row[]): string {
    const places = new Map<string, number>();
    const once: SqlValue[][] = [];
    const packed = rows.map((row) => {
      const said = this.#repeated.map((place) => row[place] ?? null);
      const key = JSON.stringify(said);
      let at = places.get(key);
      if (at === undefined) {
        places.set(key, at = once.length);
        once.push(said);
      }
      return [at, ...this.#own.map((place) => row[place] ?? null)];
    });
    return JSON.stringify({ once, rows: packed });
  }

  /** The rows that {@linkcode pack} wrote. */
  unpack(packed: string): SqlValue[][] {
    const { once, rows }: {
      readonly once: readonly Row[];
      readonly rows: readonly Row[];
    } = JSON.parse(packed);
    return rows.map(([at, ...own]) => {
      const said = once[Number(at)] ?? [];
      const row: SqlValue[] = [];
      for (const [from, place] of this.#repeated.entries()) {
        row[place] = said[from] ?? null;
      }
      for (const [from, place] of this.#own.entries()) {
        row[place] = own[from] ?? null;
      }
      return row;
    });
  }

  /**
   * What a statement selects {@linkcode sql} from; `w.key` is the place of a
   * row among them. The limits have no effect on the result: they stop SQLite
   * from building the JSON of a row again for each column.
   *
   * @param parameter The parameter that is the argument, with its number.
   */
  from(parameter: string): string {
    const columns = [
      "key",
      ...this.#repeated.map((place, at) => `value ->> ${at} AS c${place}`),
    ];
    return `(SELECT key, value FROM json_each(${parameter}, '$.rows') LIMIT -1)
        AS w
      CROSS JOIN (SELECT ${columns.join(", ")}
        FROM json_each(${parameter}, '$.once') LIMIT -1) AS o
        ON o.key = w.value ->> 0`;
  }
}
