import type { SqlValue } from "../driver/driver.ts";

/** How a value of a field is stored in a column. */
export interface ColumnType<Value> {
  /** What a stored value says. */
  readonly read: (stored: SqlValue) => Value;
  /** What is stored of a value. */
  readonly write: (value: Value) => SqlValue;
}

/** A value that is stored as it is: a text, a number, bytes, or NULL. */
export function plain<Value extends SqlValue>(): ColumnType<Value> {
  return { read: (stored) => stored as Value, write: (value) => value };
}

/** True or false, as 1 or 0. */
export const flag: ColumnType<boolean> = {
  read: (stored) => stored === 1,
  write: (value) => value ? 1 : 0,
};

/** A value that is stored as JSON. */
export function json<Value>(): ColumnType<Value> {
  return {
    read: (stored) => JSON.parse(stored as string),
    write: (value) => JSON.stringify(value),
  };
}

/** Each field with its column, or a piece of SQL, and how it is stored there. */
export type ColumnsOf<Row> = {
  readonly [Field in keyof Row]-?: readonly [string, ColumnType<Row[Field]>];
};

/**
 * The columns of a table that make up one object: what selects, reads and writes
 * them is made of one list.
 *
 * @example A table of two columns
 * ```ts
 * import { Columns, flag, plain } from "./columns.ts";
 * import assert from "node:assert/strict";
 *
 * interface Light {
 *   readonly name: string;
 *   readonly isOn: boolean;
 * }
 * const lights = new Columns<Light>({
 *   name: ["light_name", plain()],
 *   isOn: ["is_on", flag],
 * });
 * assert.equal(lights.list(), "light_name, is_on");
 * assert.equal(lights.list("l"), "l.light_name, l.is_on");
 * assert.deepEqual(lights.read(["hall", 1]), { name: "hall", isOn: true });
 * assert.deepEqual(lights.write({ name: "hall", isOn: true }), ["hall", 1]);
 * ```
 */
export class Columns<Row extends object> {
  /** How many there are. */
  readonly count: number;
  /** The place of each: to read one of them, or where time matters. */
  readonly at: Readonly<Record<keyof Row, number>>;
  /** The fields, in the order of the columns. */
  readonly fields: readonly (keyof Row)[];
  readonly #columns: readonly string[];
  readonly #types: readonly ColumnType<Row[keyof Row]>[];

  constructor(columns: ColumnsOf<Row>) {
    const all = Object.entries(columns) as [
      keyof Row & string,
      readonly [string, ColumnType<Row[keyof Row]>],
    ][];
    this.count = all.length;
    this.at = Object.fromEntries(
      all.map(([field], place) => [field, place]),
    ) as Record<keyof Row, number>;
    this.#columns = all.map(([, [column]]) => column);
    this.fields = all.map(([field]) => field);
    this.#types = all.map(([, [, type]]) => type);
  }

  /**
   * The columns for a statement, in their order.
   *
   * @param alias What the statement calls the table. @default {nothing}
   * @param instead SQL in the place of some columns.
   */
  list(
    alias?: string,
    instead?: Readonly<Partial<Record<keyof Row, string>>>,
  ): string {
    const before = alias === undefined ? "" : `${alias}.`;
    return this.fields.map((field, place) =>
      instead?.[field] ?? `${before}${this.#columns[place]}`
    ).join(", ");
  }

  /** `value ->> 0, value ->> 1` and so on, to read what `write` gave as JSON. */
  get values(): string {
    return this.valuesOf("value");
  }

  /**
   * The same of a column of a JSON table.
   *
   * @param column The column that has the array.
   */
  valuesOf(column: string): string {
    return this.#columns.map((_, place) => `${column} ->> ${place}`).join(", ");
  }

  /**
   * `a = excluded.a, b = excluded.b` and so on, for an upsert.
   *
   * @param key Fields that stay as they are. @default {none}
   */
  excluded(key: readonly (keyof Row)[] = []): string {
    return this.#columns.filter((_, place) =>
      !key.includes(this.fields[place] as keyof Row)
    ).map((column) => `${column} = excluded.${column}`).join(", ");
  }

  /** The columns of some fields, in the order in which those are given. */
  of(fields: readonly (keyof Row)[], alias?: string): string[] {
    const before = alias === undefined ? "" : `${alias}.`;
    return fields.map((field) => `${before}${this.#columns[this.at[field]]}`);
  }

  /**
   * Reads a row that was selected with them.
   *
   * @param from Place of the first of them in the row. @default 0
   */
  read(row: readonly SqlValue[], from = 0): Row {
    const made: Partial<Row> = {};
    for (let place = 0; place < this.count; place++) {
      const field = this.fields[place];
      const type = this.#types[place];
      if (field === undefined || type === undefined) break;
      made[field] = type.read(row[from + place] ?? null);
    }
    return made as Row;
  }

  /** What is stored of an object, in the order of the columns. */
  write(row: Row): SqlValue[] {
    return this.fields.map((field, place) =>
      this.#types[place]?.write(row[field]) ?? null
    );
  }
}
