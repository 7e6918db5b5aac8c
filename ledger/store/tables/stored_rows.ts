import { Buffer } from "node:buffer";
import type {
  Driver,
  ResultSet,
  SqlValue,
  Statement,
} from "../driver/driver.ts";

/** Columns that tell where a row is stored, which may differ. */
const PLACES = ["generation", "seq", "row"];

/** A table whose rows follow from the events. */
export interface StoredTable {
  /** Its name. */
  readonly name: string;
  /** Columns to compare, as they are stored. */
  readonly columns: readonly string[];
  /** Columns that identify a row, in the order of an index, and their types. */
  readonly key: readonly { readonly name: string; readonly type: string }[];
  /** Whether each refold has rows of its own. */
  readonly byGeneration: boolean;
}

/** A row as stored. Texts and numbers come as bytes, so that any text can be read. */
export type StoredRow = readonly (Uint8Array | null)[];

/**
 * Reads the columns and the key of a table from the schema, so that columns
 * added later are compared as well.
 *
 * @param driver Any database with the schema.
 * @param name The table.
 */
export async function storedTable(
  driver: Driver,
  name: string,
): Promise<StoredTable> {
  const [columns, key] = await driver.batch([
    { sql: "SELECT name, type FROM pragma_table_info(?)", args: [name] },
    {
      sql: `SELECT i.name FROM pragma_index_list(?) AS l,
          pragma_index_info(l.name) AS i
        WHERE l."unique" = 1 ORDER BY i.seqno`,
      args: [name],
    },
  ], "read");
  const types = new Map(
    columns?.rows.map(([column, type]) => [String(column), String(type)]),
  );
  return {
    name,
    columns: [...types.keys()].filter((column) => !PLACES.includes(column)),
    key: (key?.rows ?? []).map(([column]) => String(column))
      .filter((column) => !PLACES.includes(column))
      .map((column) => ({ name: column, type: types.get(column) ?? "TEXT" })),
    byGeneration: types.has("generation"),
  };
}

/**
 * Selects the next rows of the live states, by key.
 *
 * @param table Which table.
 * @param limit Most rows.
 * @param after Key of the row before; null for the first rows.
 */
export function selectRows(
  table: StoredTable,
  limit: number,
  after: readonly SqlValue[] | null,
): Statement {
  const { name, columns, key, byGeneration } = table;
  const live = byGeneration
    ? "generation = (SELECT generation FROM projections WHERE name = 'live')"
    : "true";
  const names = key.map((column) => column.name).join(", ");
  const before = key.map(({ type }, at) => `CAST(?${at + 2} AS ${type})`);
  const sql =
    `SELECT ${
      columns.map((column) => `CAST(${column} AS BLOB)`).join(", ")
    } FROM ${name} WHERE ${live}` +
    (after === null ? "" : ` AND (${names}) > (${before.join(", ")})`) +
    ` ORDER BY ${names} LIMIT ?1`;
  return { sql, args: [limit, ...after ?? []] };
}

/** The rows of an answer. */
export function storedRows(result: ResultSet | undefined): StoredRow[] {
  return (result?.rows ?? []).map((row) =>
    row.map((value) => value instanceof Uint8Array ? value : null)
  );
}

/** The key of a row, as arguments of {@linkcode selectRows}. */
export function keyOf(table: StoredTable, row: StoredRow): SqlValue[] {
  return table.key.map(({ name, type }) => {
    const value = row[table.columns.indexOf(name)] ?? null;
    return type === "INTEGER" && value !== null ? Number(textOf(value)) : value;
  });
}

/** Compares two keys as the database does. */
export function compareKeys(
  a: readonly SqlValue[],
  b: readonly SqlValue[],
): number {
  for (const [at, one] of a.entries()) {
    const other = b[at];
    const order = one instanceof Uint8Array && other instanceof Uint8Array
      ? Buffer.compare(one, other)
      : Number(one) - Number(other);
    if (order !== 0) return order;
  }
  return 0;
}

const utf8 = new TextDecoder();

/** A stored value as text; what is not well formed is replaced. */
export function textOf(value: Uint8Array): string;
export function textOf(value: Uint8Array | null): string | null;
export function textOf(value: Uint8Array | null): string | null {
  return value === null ? null : utf8.decode(value);
}
