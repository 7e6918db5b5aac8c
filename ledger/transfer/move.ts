/**
 * A whole ledger as lines, and back into an empty one: every row as it stands, with
 * what is sent, begun and owed, so that nothing is lost and nothing is sent twice.
 */
import { Buffer } from "node:buffer";
import { isRecord } from "../../core/guards.ts";
import {
  decidingMode,
  type Driver,
  LedgerError,
  readDeciding,
  selectDeciding,
  type SqlValue,
  type Statement,
  statement,
  write,
} from "../store/database.ts";
import { SCHEMA_VERSION, schemaFor } from "../store/schema.ts";
import { UNFINISHED } from "../store/create.ts";
import { DATABASE_NOW } from "../store/leases.ts";
import { LAST_SEQ } from "../projection/log.ts";
import { type Line, takeLines } from "./transfer.ts";

/** Where the ledger's own row is, and what running processes note. */
const APART = ["ledger", "leases", "waiting"];

/** Every other table, by the columns of its primary key: by them its rows are ordered. */
export const TABLES: ReadonlyMap<string, readonly string[]> = new Map(
  schemaFor("").flatMap((sql) => {
    const table = /^\s*CREATE TABLE (\w+)/.exec(sql)?.[1] ?? "ledger";
    const key = /PRIMARY KEY \(([^)]+)\)/.exec(sql)?.[1] ??
      /(\w+) \w+ PRIMARY KEY/.exec(sql)?.[1] ?? "";
    return APART.includes(table) ? [] : [[table, key.split(", ")] as const];
  }),
);

/** Columns of the ledger's own row that are moved. */
const OWN = [
  ...["id", "key", "created_at", "live_from", "fold_version", "position"],
  ...["turn", "erasures", "counts"],
];

/** Rows of one line; of events, which may be long, fewer. */
const ROWS = 400;
const EVENTS = 8;

/** Writes everything that a ledger holds. */
export async function* exportMoved(
  driver: Driver,
  environment: string,
): AsyncGenerator<string> {
  const atRest = await readAtRest(driver);
  const [, lastSeq, ...own] = atRest;
  const folding = await selectDeciding(
    driver,
    "SELECT 1 FROM sqlite_schema WHERE name LIKE 'orders@_%' ESCAPE '@' AND type = 'table'",
  );
  if (folding.length > 0) {
    throw new LedgerError(
      "failed",
      "Cannot move the ledger: it is being folded anew; let that end first, " +
        "with `ledger refold`",
    );
  }
  yield JSON.stringify({
    ...{ rampkit: "ledger", version: 1, schema: SCHEMA_VERSION, environment },
    ...{ own, lastSeq },
  });
  const counts: Record<string, number> = {};
  for (const [table, key] of TABLES) {
    counts[table] = 0;
    const names = key.join(", ");
    const select = (where: string, after: readonly SqlValue[]) =>
      statement(
        `SELECT * FROM ${table} ${where} ORDER BY ${names}
          LIMIT ${table === "events" ? EVENTS : ROWS}`,
        ...after,
      );
    const next = `WHERE (${names}) > (${key.map(() => "?").join(", ")})`;
    for (let page = select("", []);;) {
      const [found] = await driver.batch([page], decidingMode(driver));
      const { columns = [], rows = [] } = found ?? {};
      const last = rows.at(-1);
      if (last === undefined) break;
      counts[table] += rows.length;
      yield JSON.stringify({ table, columns, rows: rows.map(written) });
      const after = key.map((name) => last[columns.indexOf(name)] ?? null);
      page = select(next, after);
    }
  }
  const again = await readAtRest(driver);
  if (JSON.stringify(again) !== JSON.stringify(atRest)) throw inUse();
  yield JSON.stringify({ end: counts });
}

/**
 * The last event, which a process without a lease may append, and the ledger's own row.
 * One that polls, forwards or calls handlers holds a lease.
 */
async function readAtRest(driver: Driver): Promise<unknown[]> {
  const [held, own] = await readDeciding(driver, [
    statement(`SELECT 1 FROM leases WHERE expires_at > ${DATABASE_NOW}`),
    statement(
      `SELECT (SELECT max(position) FROM events), ${LAST_SEQ},
        ${OWN.join(", ")} FROM ledger`,
    ),
  ]);
  if (held?.length !== 0) throw inUse();
  return written(own?.[0] ?? []);
}

function inUse(): LedgerError {
  return new LedgerError(
    "busy",
    "Cannot move the ledger: it is in use; stop every serve and program on it, " +
      "wait half a minute where one was killed, then run this again",
  );
}

/** Bytes as an object with their base64. */
function written(row: readonly SqlValue[]): unknown[] {
  return row.map((value) =>
    value instanceof Uint8Array
      ? { base64: Buffer.from(value).toString("base64") }
      : typeof value === "bigint"
      ? Number(value)
      : value
  );
}

function read(row: readonly unknown[]): SqlValue[] {
  return row.map((value) =>
    isRecord(value)
      ? new Uint8Array(Buffer.from(String(value.base64), "base64"))
      : value as SqlValue
  );
}

/**
 * Fills an empty ledger with everything that another one held. If it is stopped, the
 * next run begins anew. Open the ledger again afterwards: it is the other one now.
 * Gives the number of events.
 */
export async function importMoved(
  driver: Driver,
  environment: string,
  lines: AsyncIterable<string>,
): Promise<number> {
  await begin(driver);
  const counts: Record<string, number> = {};
  const found: Partial<ReturnType<typeof headerOf>> & {
    end?: Record<string, number>;
  } = {};
  const number = await takeLines(lines, {
    environment,
    header: (line) => void Object.assign(found, headerOf(line)),
    take: async (line) => {
      if (isRecord(line.end)) found.end = line.end as Record<string, number>;
      else {
        const rows = insertRows(line);
        await write(driver, rows);
        const table = String(line.table);
        counts[table] = (counts[table] ?? 0) + rows.length;
      }
      return found.end !== undefined;
    },
  });
  const { own, lastSeq = 0, end } = found;
  if (own === undefined || end === undefined) {
    throw new TypeError(
      `Cannot move the ledger in: the file is cut after line ${number}; ` +
        "import a whole one, which begins anew",
    );
  }
  for (const table of TABLES.keys()) {
    const there = counts[table] ?? 0;
    if (there === end[table]) continue;
    throw new LedgerError(
      "failed",
      `Cannot move the ledger in: it has ${there} rows of ${table}, and the ` +
        `file ${end[table]}; run this again, which begins anew`,
    );
  }
  await write(driver, [
    statement(
      `UPDATE ledger SET ${OWN.map((name) => `${name} = ?`).join(", ")}`,
      ...own,
    ),
    // Transitions that were erased had numbers too.
    statement("DELETE FROM sqlite_sequence WHERE name = 'log'"),
    statement(
      `INSERT INTO sqlite_sequence
        SELECT 'log', max(?, coalesce(max(seq), 0)) FROM log`,
      lastSeq,
    ),
    statement("DELETE FROM cursors WHERE name = 'moving'"),
  ]);
  return end.events ?? 0;
}

/** Takes away what an import left that was stopped; anything else is refused. */
async function begin(driver: Driver): Promise<void> {
  await readAtRest(driver);
  const tables = [...TABLES.keys()];
  const [[isUnfinished, isFilled] = []] = await selectDeciding(
    driver,
    `SELECT EXISTS (SELECT 1 FROM cursors WHERE name = 'moving'), ${
      tables.map((table) => `EXISTS (SELECT 1 FROM ${table})`).join(" OR ")
    }`,
  );
  if (isFilled === 1 && isUnfinished !== 1) {
    throw new LedgerError(
      "failed",
      "Cannot move a ledger in here: this one holds something already; name an " +
        "empty one, or import the events alone, without --move",
    );
  }
  await write(driver, [
    ...tables.map((table) => statement(`DELETE FROM ${table}`)),
    statement("INSERT INTO cursors VALUES ('moving', '', 0)"),
    statement("UPDATE ledger SET fold_version = ?, position = 0", UNFINISHED),
  ]);
}

function headerOf({ rampkit, own, lastSeq, schema }: Line) {
  if (
    rampkit !== "ledger" || !Array.isArray(own) || typeof lastSeq !== "number"
  ) {
    throw new TypeError(
      "It is not the header that `ledger export --move` writes; events alone are " +
        "imported without --move",
    );
  }
  if (schema !== SCHEMA_VERSION) {
    throw new TypeError(
      `The ledger has schema ${schema}, and this version ` +
        `${SCHEMA_VERSION}: move it with the same version on both sides`,
    );
  }
  return { own: read(own), lastSeq };
}

function insertRows({ table, columns, rows }: Line): Statement[] {
  if (
    typeof table !== "string" || !TABLES.has(table) ||
    !Array.isArray(columns) || !Array.isArray(rows) ||
    !columns.every((one) => /^[a-z_]+$/.test(String(one)))
  ) {
    throw new TypeError(
      `It has rows of ${JSON.stringify(table)}, no table here`,
    );
  }
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${
    columns.map(() => "?").join(", ")
  })`;
  return rows.map((row: readonly unknown[]) => ({ sql, args: read(row) }));
}
