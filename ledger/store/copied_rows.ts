/**
 * Rows of any table as they are copied into another database: in ranges of the
 * table's key, each noted there.
 */
import type { Driver, SqlValue, Statement } from "./driver/driver.ts";

/** A table whose rows are copied. */
export interface CopiedTable {
  /** Its name. */
  readonly name: string;
  /** What is read and written of a row: the columns of the key first. */
  readonly columns: readonly string[];
  /** The key as SQL compares and orders by it. */
  readonly key: readonly string[];
}

/** A place in a table: a value for each column of the key; null for its beginning. */
export type Place = readonly SqlValue[] | null;

/** Rows after one place up to another, and what they hash to. */
export interface CopiedRange {
  /** The place of its last row. */
  readonly end: readonly SqlValue[];
  /** Hash of the rows, hex; empty where it must be written again. */
  readonly digest: string;
}

/** The ledger whose copy is under way. */
export interface CopiedLedger {
  /** Identity of the ledger, 32 hex digits. */
  readonly ledgerId: string;
  /** Version of its schema. */
  readonly schemaVersion: number;
}

/** The table that stands in a database while a copy of a ledger is not whole. */
export const UNFINISHED_COPY = "unfinished_copy";

/** Most bytes of a range, but for its last row. */
const RANGE_BYTES = 1 << 20;
/** SQLite takes no more arguments of one statement than 32,766. */
const MOST_ARGUMENTS = 32_000;

/** The stamp is copied last, and what belongs to SQLite not at all. */
const COPIED = "name <> 'rampkit' AND name NOT GLOB 'sqlite_*'";

/** Selects what makes the tables of a ledger, in order. */
export const selectSchema: Statement = {
  sql: `SELECT sql FROM sqlite_schema
    WHERE sql IS NOT NULL AND tbl_name <> 'rampkit' AND ${COPIED}
    ORDER BY rowid`,
  args: [],
};

/** Selects what makes the table of the stamp. */
export const selectStampSchema: Statement = {
  sql: "SELECT sql FROM sqlite_schema WHERE name = 'rampkit'",
  args: [],
};

/**
 * Reads which tables a ledger has, and what identifies their rows.
 *
 * @param ledger A ledger of this version in memory.
 */
export async function readCopiedTables(ledger: Driver): Promise<CopiedTable[]> {
  const [tables, columns, keys] = await ledger.batch(
    [
      `SELECT name, wr FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND ${COPIED} ORDER BY name`,
      `SELECT t.name, c.name, c.type, c.pk FROM pragma_table_list AS t
      JOIN pragma_table_xinfo(t.name) AS c
      WHERE t.schema = 'main' AND t.type = 'table' AND c.hidden = 0
      ORDER BY t.name, c.cid`,
      `SELECT t.name, x.name, x.coll FROM pragma_table_list AS t
      JOIN pragma_index_list(t.name) AS i
      JOIN pragma_index_xinfo(i.name) AS x
      WHERE t.schema = 'main' AND i.origin = 'pk' AND x.key = 1
      ORDER BY t.name, x.seqno`,
    ].map((sql) => ({ sql, args: [] })),
    "read",
  );
  return (tables?.rows ?? []).map(([name, withoutRowid]) => {
    const of = (result: typeof columns) =>
      (result?.rows ?? []).filter(([table]) => table === name);
    const all = of(columns).map(([, column]) => String(column));
    const alias = of(columns).find(([, , type, pk]) =>
      pk === 1 && type === "INTEGER"
    );
    const key = withoutRowid === 1
      ? of(keys).map(([, column, collation]) => ({
        column: String(column),
        sql: `${column} COLLATE ${collation}`,
      }))
      : [{ column: String(alias?.[1] ?? "rowid"), sql: "rowid" }];
    const names = key.map(({ column }) => column);
    return {
      name: String(name),
      columns: [...names, ...all.filter((column) => !names.includes(column))],
      key: key.map(({ sql }) => sql),
    };
  });
}

/** SQL for rows after a place, up to another one, and the arguments of it. */
function between(
  { key }: CopiedTable,
  after: Place,
  end: Place,
): { readonly where: string; readonly args: readonly SqlValue[] } {
  const places = `(${key.map(() => "?").join(", ")})`;
  const parts = [
    ...(after === null ? [] : [`(${key.join(", ")}) > ${places}`]),
    ...(end === null ? [] : [`(${key.join(", ")}) <= ${places}`]),
  ];
  return {
    where: parts.length === 0 ? "true" : parts.join(" AND "),
    args: [...(after ?? []), ...(end ?? [])],
  };
}

/**
 * Selects the next rows of a table in the order of its key, so many that they
 * make one range; each is followed by how many there were to take from.
 *
 * @param mostRows Most rows of a range.
 */
export function selectNextRows(
  table: CopiedTable,
  { after, end, mostRows }: {
    readonly after: Place;
    readonly end: Place;
    readonly mostRows: number;
  },
): Statement {
  const { where, args } = between(table, after, end);
  const columns = table.columns.join(", ");
  const order = table.key.join(", ");
  const bytes = table.columns.map((column) =>
    `coalesce(octet_length(${column}), 0)`
  ).join(" + ");
  const most = Math.min(
    mostRows,
    Math.floor(MOST_ARGUMENTS / table.columns.length),
  );
  return {
    // Names that no column of a table has.
    sql: `SELECT ${columns}, "all taken" FROM (
        SELECT ${columns}, "number taken", count(*) OVER () AS "all taken",
          sum("bytes taken") OVER (ORDER BY "number taken"
            ROWS UNBOUNDED PRECEDING) - "bytes taken" AS "bytes before"
        FROM (SELECT ${columns}, ${bytes} AS "bytes taken",
            row_number() OVER (ORDER BY ${order}) AS "number taken"
          FROM ${table.name} WHERE ${where} ORDER BY ${order}
          LIMIT ${most + 1}))
      WHERE "number taken" <= ${most} AND "bytes before" < ${RANGE_BYTES}`,
    args,
  };
}

/** Selects the rows of a range, in the order of the key. */
export function selectRange(
  table: CopiedTable,
  after: Place,
  end: Place,
): Statement {
  const { where, args } = between(table, after, end);
  return {
    sql: `SELECT ${table.columns.join(", ")} FROM ${table.name}
      WHERE ${where} ORDER BY ${table.key.join(", ")}`,
    args,
  };
}

/** Writes a range: the rows replace whatever is there. */
export function replaceRange(
  table: CopiedTable,
  { after, end, rows }: {
    readonly after: Place;
    readonly end: Place;
    readonly rows: readonly (readonly SqlValue[])[];
  },
): Statement[] {
  const { where, args } = between(table, after, end);
  const remove = { sql: `DELETE FROM ${table.name} WHERE ${where}`, args };
  if (rows.length === 0) return [remove];
  const values = `(${table.columns.map(() => "?").join(",")})`;
  return [remove, {
    sql: `INSERT INTO ${table.name} (${table.columns.join(", ")})
      VALUES ${rows.map(() => values).join(",")}`,
    args: rows.flat(),
  }];
}

/** Counts the rows of a table. */
export function countRows({ name }: CopiedTable): Statement {
  return { sql: `SELECT count(*) FROM ${name}`, args: [] };
}

/** Begins a copy in an empty database. */
export function beginCopy(
  { ledgerId, schemaVersion }: CopiedLedger,
): Statement[] {
  return [{
    sql: `CREATE TABLE ${UNFINISHED_COPY} (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      ledger_id TEXT NOT NULL,
      schema_version INTEGER NOT NULL
    ) STRICT`,
    args: [],
  }, {
    sql: `CREATE TABLE copied_ranges (
      name TEXT NOT NULL,
      after TEXT NOT NULL,
      end TEXT NOT NULL,
      digest TEXT NOT NULL,
      PRIMARY KEY (name, after)
    ) STRICT, WITHOUT ROWID`,
    args: [],
  }, {
    sql: `INSERT INTO ${UNFINISHED_COPY} VALUES (1, ?, ?)`,
    args: [ledgerId, schemaVersion],
  }];
}

/** Selects whose copy is under way; {@linkcode copiedLedgerOf} reads it. */
export const selectCopy: Statement = {
  sql: `SELECT ledger_id, schema_version FROM ${UNFINISHED_COPY}`,
  args: [],
};

/** Reads the answer of {@linkcode selectCopy}. */
export function copiedLedgerOf(
  [ledgerId, schemaVersion]: readonly SqlValue[],
): CopiedLedger {
  return {
    ledgerId: String(ledgerId),
    schemaVersion: Number(schemaVersion),
  };
}

/** Selects the ranges of a table that were written, each with its beginning. */
export function selectRanges({ name }: CopiedTable): Statement {
  return {
    sql: "SELECT after, end, digest FROM copied_ranges WHERE name = ?",
    args: [name],
  };
}

/** Notes that a range was written, or that it must be. */
export function noteRange(
  { name }: CopiedTable,
  after: Place,
  { end, digest }: CopiedRange,
): Statement {
  return {
    sql: `INSERT INTO copied_ranges (name, after, end, digest)
      VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
        end = excluded.end, digest = excluded.digest`,
    args: [name, placeText(after), placeText(end), digest],
  };
}

/** Removes what was copied of a table. */
export function forgetTable({ name }: CopiedTable): Statement[] {
  return [
    { sql: `DELETE FROM ${name}`, args: [] },
    { sql: "DELETE FROM copied_ranges WHERE name = ?", args: [name] },
  ];
}

/** A place as one text; the keys of a ledger hold numbers, texts and bytes. */
export function placeText(place: Place): string {
  return JSON.stringify(
    place,
    (_, value) => value instanceof Uint8Array ? { bytes: [...value] } : value,
  );
}

/** Reads what {@linkcode placeText} wrote. */
export function placeOfText(text: string): readonly SqlValue[] {
  return JSON.parse(
    text,
    (_, value) => value?.bytes ? Uint8Array.from(value.bytes) : value,
  );
}

/** Ends a copy: the database is a ledger from now on. */
export function endCopy(
  stampSchema: string,
  columns: readonly string[],
  stamp: readonly SqlValue[],
): Statement[] {
  return [
    stampSchema,
    `DROP TABLE ${UNFINISHED_COPY}`,
    "DROP TABLE copied_ranges",
  ].map((sql): Statement => ({ sql, args: [] })).concat({
    sql: `INSERT INTO rampkit (${columns.join(", ")})
      VALUES (${columns.map(() => "?").join(", ")})`,
    args: stamp,
  });
}

/** Selects the stamp with all its columns. */
export const selectWholeStamp: Statement = {
  sql: "SELECT * FROM rampkit",
  args: [],
};

/** Selects what nobody changes who does not use the ledger. */
export const selectPulse: Statement = {
  sql: `SELECT (SELECT max(position) FROM events),
      (SELECT max(seq) FROM transitions),
      (SELECT position FROM chain_checkpoint),
      (SELECT position FROM projections WHERE name = 'live')`,
  args: [],
};
