/** How the ledger reads and writes: rows in, rows out, all of a batch or nothing. */
import type { Driver, SqlValue, Statement } from "./driver/driver.ts";

export type Rows = readonly (readonly SqlValue[])[];

export function statement(
  sql: string,
  ...args: readonly SqlValue[]
): Statement {
  return { sql, args };
}

async function rowsOf(
  driver: Driver,
  statements: readonly Statement[],
  mode: "read" | "write",
): Promise<Rows[]> {
  return (await driver.batch(statements, mode)).map(({ rows }) => rows);
}

/** Reads in one transaction; a replica may be behind. */
export function read(
  driver: Driver,
  statements: readonly Statement[],
): Promise<Rows[]> {
  return rowsOf(driver, statements, "read");
}

export async function select(
  driver: Driver,
  sql: string,
  ...args: readonly SqlValue[]
): Promise<Rows> {
  const [rows = []] = await read(driver, [statement(sql, ...args)]);
  return rows;
}

/** Reads one value; null where there is no row. */
export async function selectValue(
  driver: Driver,
  sql: string,
  ...args: readonly SqlValue[]
): Promise<SqlValue> {
  const [[value = null] = []] = await select(driver, sql, ...args);
  return value;
}

/** How what decides something is read: never what a replica has not heard of yet. */
export function decidingMode({ location }: Driver): "read" | "write" {
  return location === "remote" ? "write" : "read";
}

export function readDeciding(
  driver: Driver,
  statements: readonly Statement[],
): Promise<Rows[]> {
  return rowsOf(driver, statements, decidingMode(driver));
}

/** Writes all statements or none. */
export function write(
  driver: Driver,
  statements: readonly Statement[],
): Promise<Rows[]> {
  return rowsOf(driver, statements, "write");
}

/** What a row held when it was read, by column. No value may be null. */
export type RowRead = Readonly<Record<string, Exclude<SqlValue, null>>>;

/**
 * Makes a statement that begins a write batch. If the row is not as it was read, the
 * batch writes nothing and fails with `conflict`: the row of nulls is refused.
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
 * SQLite costs, or a round trip, is paid once. `into` names the columns too.
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

/** Checks that the database would accept a write; returns its SQLite's version. */
export async function requireWritable(driver: Driver): Promise<string> {
  // The lock that a write takes.
  const [rows] = await write(driver, [statement("SELECT sqlite_version()")]);
  return String(rows?.[0]?.[0]);
}

/** The first damage in the pages of a database file; null where there is none. */
export async function findDamage(driver: Driver): Promise<string | null> {
  const found = await selectValue(driver, "PRAGMA quick_check(1)");
  return found === "ok" ? null : String(found);
}

/** Reads stored progress, plain JSON; null when there is none. */
export async function readSweep<State>(
  driver: Driver,
  name: string,
): Promise<State | null> {
  const sql = "SELECT value FROM cursors WHERE name = ?";
  const text = await selectValue(driver, sql, name);
  return typeof text === "string" ? JSON.parse(text) as State : null;
}

/** The statement that stores progress, to go into the batch that makes it. */
export function writeSweep(
  name: string,
  state: unknown,
  nowMs: number,
): Statement {
  return statement(
    "INSERT OR REPLACE INTO cursors (name, value, updated_at) VALUES (?, ?, ?)",
    ...[name, JSON.stringify(state), Math.floor(nowMs)],
  );
}
