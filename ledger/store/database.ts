/** How the ledger reads and writes: rows in, rows out, all of a batch or nothing. */
import {
  type Driver,
  readPrimary,
  type SqlValue,
  type Statement,
} from "./driver/driver.ts";

/** The rows that one statement found. */
export type Rows = readonly (readonly SqlValue[])[];

/** Makes a statement. */
export function statement(
  sql: string,
  ...args: readonly SqlValue[]
): Statement {
  return { sql, args };
}

/** Reads in one transaction; a replica may be behind. */
export async function read(
  driver: Driver,
  statements: readonly Statement[],
): Promise<Rows[]> {
  const found = await driver.batch(statements, "read");
  return found.map(({ rows }) => rows);
}

/** Reads what decides something: never what a replica has not heard of yet. */
export async function readDeciding(
  driver: Driver,
  statements: readonly Statement[],
): Promise<Rows[]> {
  const found = await readPrimary(driver, statements);
  return found.map(({ rows }) => rows);
}

/** Writes all statements or none. */
export async function write(
  driver: Driver,
  statements: readonly Statement[],
): Promise<Rows[]> {
  const found = await driver.batch(statements, "write");
  return found.map(({ rows }) => rows);
}

/** What a row held when it was read, by column. No value may be null. */
export type RowRead = Readonly<Record<string, Exclude<SqlValue, null>>>;

/**
 * Makes a statement that begins a write batch. If the row is not as it was read, the
 * batch writes nothing and fails with `conflict`: the row of nulls is refused.
 *
 * @param table A table that has a column which may not be null.
 * @param row What was read.
 */
export function expectRow(table: string, row: RowRead): Statement {
  const columns = Object.keys(row);
  const same = columns.map((column, at) => `${column} = ?${at + 1}`);
  return {
    sql: `INSERT INTO ${table} (${columns[0]}) SELECT NULL
      WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${same.join(" AND ")})`,
    args: Object.values(row),
    expects: true,
  };
}

/** Values as one argument, for `IN (SELECT value FROM json_each(?))`. */
export function listed(values: Iterable<SqlValue>): string {
  return JSON.stringify([...values]);
}

/**
 * Inserts many rows of texts and numbers by one statement, so that what a call of
 * SQLite costs, or a round trip, is paid once.
 *
 * @param into The table and its columns.
 * @param rows Values in the order of the columns.
 * @param conflict What follows the values, `ON CONFLICT ...`.
 * @returns Nothing where there are no rows.
 */
export function insertMany(
  into: string,
  rows: readonly (readonly (string | number | null)[])[],
  conflict = "",
): Statement[] {
  const [first] = rows;
  if (first === undefined) return [];
  const values = first.map((_, at) => `value ->> ${at}`).join(", ");
  const sql =
    `INSERT INTO ${into} SELECT ${values} FROM json_each(?) WHERE true ${conflict}`;
  return [{ sql, args: [JSON.stringify(rows)] }];
}

/** The bytes of a BLOB, whichever driver read it. */
export function bytesOf(value: SqlValue | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

/**
 * Checks that the database would accept a write, and writes nothing.
 *
 * @returns The version of its SQLite.
 * @throws {LedgerError} With the reason when it takes none.
 */
export async function requireWritable(driver: Driver): Promise<string> {
  // The lock that a write takes.
  const [rows] = await write(driver, [statement("SELECT sqlite_version()")]);
  return String(rows?.[0]?.[0]);
}

/** The first damage in the pages of a database file; null where there is none. */
export async function findDamage(driver: Driver): Promise<string | null> {
  const [rows] = await read(driver, [statement("PRAGMA quick_check(1)")]);
  const found = String(rows?.[0]?.[0]);
  return found === "ok" ? null : found;
}
