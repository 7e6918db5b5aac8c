import { Columns, plain } from "./tables/columns.ts";
import { hex } from "@scure/base";
import { sleep } from "../../core/waiting/sleep.ts";
import type { Driver, SqlValue, Statement } from "./driver/driver.ts";
import { LedgerError } from "./driver/errors.ts";
import { isLostRace } from "./driver/retrying_driver.ts";
import { expectRow } from "./driver/expect_row.ts";
import { UNFINISHED_COPY } from "./copied_rows.ts";
import { selectTables } from "./table_names.ts";

/** One step of the schema. A published step is never edited. */
export interface Migration {
  /** Version the schema has afterwards; steps count up by one from 1. */
  readonly version: number;
  /** SQL of the step. */
  readonly statements: readonly string[];
}

/** What {@linkcode migrate} needs to know. */
export interface MigrateOptions {
  /** All steps, in order. */
  readonly migrations: readonly Migration[];
  /** Environment the ledger belongs to; it is stamped on the first opening. */
  readonly environment: string;
  /** The clock, in ms. */
  readonly now: () => number;
  /**
   * Random bytes for the ledger's identity.
   *
   * @default crypto.getRandomValues
   */
  readonly randomBytes?: (size: number) => Uint8Array;
}

/** The stamp that every ledger holds. */
export interface LedgerStamp {
  /** Version of its schema. */
  readonly schemaVersion: number;
  /** Environment it belongs to. */
  readonly environment: string;
  /** Its identity, 32 hex digits; the evidence chain begins with it. */
  readonly ledgerId: string;
  /** When it was created, UTC ISO 8601. */
  readonly createdAt: string;
}

const STAMP = new Columns<LedgerStamp>({
  schemaVersion: ["schema_version", plain()],
  environment: ["environment", plain()],
  ledgerId: ["ledger_id", plain()],
  createdAt: ["created_at", plain()],
});

/**
 * Creates the tables of a new ledger, or brings those of an older one up to
 * date, and checks that the ledger belongs to the environment. Several
 * processes may do so at once: each step is guarded by the version it starts
 * from.
 *
 * @param options Steps, environment and clock.
 * @returns The stamp of the ledger.
 * @throws {LedgerError} `not_a_ledger`, `newer_schema` or `wrong_environment`.
 */
export async function migrate(
  driver: Driver,
  options: MigrateOptions,
): Promise<LedgerStamp> {
  const latest = options.migrations.length;
  let stamp = await readStamp(driver);
  const wasBehind = stamp === null || stamp.schemaVersion < latest;
  if (stamp === null) {
    await driver.batch(firstStamp(options), "write");
    stamp = await readStamp(driver, "write");
  }
  if (stamp === null) {
    throw new LedgerError("failed", "The ledger's stamp was not stored");
  }
  checkStamp(stamp, options.environment, latest);
  while (stamp.schemaVersion < latest) {
    await step(driver, options.migrations, stamp.schemaVersion);
    stamp = await readStamp(driver, "write") ?? stamp;
    checkStamp(stamp, options.environment, latest);
  }
  if (wasBehind && driver.location === "remote") {
    await untilReadable(driver, latest);
  }
  return stamp;
}

/** A replica that is further behind reports what it lacks. */
const REPLICA_TRIES = 200;
const REPLICA_PAUSE_MS = 25;

/** A replica has new tables a moment later than its primary. */
async function untilReadable(driver: Driver, latest: number): Promise<void> {
  for (let tries = 0; tries < REPLICA_TRIES; tries++) {
    const stamp = await readStamp(driver);
    if (stamp !== null && stamp.schemaVersion >= latest) return;
    await sleep(REPLICA_PAUSE_MS);
  }
}

/**
 * Checks a ledger that is only to be read, and changes nothing.
 *
 * @param latest Version of the schema that can be read.
 * @param environment Environment it must belong to; left out, any.
 * @returns The stamp of the ledger.
 * @throws {LedgerError} `not_a_ledger`, `newer_schema`, `wrong_environment`, or
 * `failed` where a part of its tables is still to be made.
 */
export async function checkStored(
  driver: Driver,
  latest: number,
  environment?: string,
): Promise<LedgerStamp> {
  const stamp = await readStamp(driver);
  if (stamp === null) {
    throw new LedgerError("not_a_ledger", "The database is empty: no ledger");
  }
  checkStamp(stamp, environment ?? stamp.environment, latest);
  if (stamp.schemaVersion < latest) {
    throw new LedgerError(
      "failed",
      `The ledger's schema is ${stamp.schemaVersion}, and this version reads ` +
        `${latest}: a command that writes brings it up to date`,
    );
  }
  return stamp;
}

/**
 * Reads what is written on a ledger, without changing anything.
 *
 * @param mode `write` when a replica's earlier state is not enough.
 * @returns Null when the database is empty.
 * @throws {LedgerError} `not_a_ledger` when it holds something else.
 */
export async function readStamp(
  driver: Driver,
  mode: "read" | "write" = "read",
): Promise<LedgerStamp | null> {
  const [tables] = await driver.batch([selectTables], mode);
  const names = tables?.rows.map(([name]) => name) ?? [];
  if (names.length === 0) return null;
  if (names.includes(UNFINISHED_COPY)) {
    throw new LedgerError(
      "not_a_ledger",
      "The database holds a copy of a ledger that is not finished: finish it " +
        "with `ledger copy --finish`, or choose another path",
    );
  }
  if (!names.includes("rampkit")) {
    throw new LedgerError(
      "not_a_ledger",
      "The database belongs to another program (it has the table " +
        `${JSON.stringify(names[0])}); choose another path`,
    );
  }
  const [rows] = await driver.batch([{
    sql: `SELECT ${STAMP.list()} FROM rampkit`,
    args: [],
  }], mode);
  const row = rows?.rows[0];
  return row === undefined ? null : STAMP.read(row);
}

/** A write that changes nothing. */
export const touchStamp: Statement = {
  sql: "UPDATE rampkit SET schema_version = schema_version",
  args: [],
};

/** What a new ledger is stamped with. */
type StampOptions = Omit<MigrateOptions, "migrations">;

/** Environment, identity and creation of a new ledger. */
function newStamp(
  { environment, now, randomBytes }: StampOptions,
): readonly SqlValue[] {
  const id = randomBytes?.(16) ?? crypto.getRandomValues(new Uint8Array(16));
  return [environment, hex.encode(id), new Date(now()).toISOString()];
}

/** Makes the stamp of a ledger that of a new one. */
export function renewStamp(options: StampOptions): Statement {
  return statement(
    "UPDATE rampkit SET environment = ?, ledger_id = ?, created_at = ?",
    ...newStamp(options),
  );
}

function firstStamp(options: StampOptions): Statement[] {
  return [
    statement(`CREATE TABLE IF NOT EXISTS rampkit (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      schema_version INTEGER NOT NULL,
      environment TEXT NOT NULL,
      ledger_id TEXT NOT NULL,
      created_at TEXT NOT NULL,
      go_live TEXT,
      go_live_position INTEGER
    ) STRICT`),
    statement(
      `INSERT INTO rampkit
        (id, schema_version, environment, ledger_id, created_at)
        VALUES (1, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
      ...newStamp(options),
    ),
  ];
}

function checkStamp(
  stamp: LedgerStamp,
  environment: string,
  latest: number,
): void {
  if (stamp.schemaVersion > latest) {
    throw new LedgerError(
      "newer_schema",
      `The ledger was written by a newer version: its schema is ` +
        `${stamp.schemaVersion}, this version knows ${latest}; ` +
        "update the package",
    );
  }
  if (stamp.environment !== environment) {
    throw new LedgerError(
      "wrong_environment",
      `The ledger belongs to the environment ` +
        `${JSON.stringify(stamp.environment)}, not to ` +
        `${JSON.stringify(environment)}; use one ledger for each`,
    );
  }
}

async function step(
  driver: Driver,
  migrations: readonly Migration[],
  from: number,
): Promise<void> {
  const migration = migrations[from];
  if (migration?.version !== from + 1) {
    throw new TypeError(
      `Cannot migrate from schema ${from}: the next step has the version ` +
        `${migration?.version}`,
    );
  }
  try {
    await driver.batch([
      expectRow("rampkit", { schema_version: from }),
      statement("UPDATE rampkit SET schema_version = ?", from + 1),
      ...migration.statements.map((sql) => statement(sql)),
    ], "write");
  } catch (error) {
    // Another process made this step first, with the same result.
    if (!isLostRace(error)) throw error;
  }
}

function statement(sql: string, ...args: readonly SqlValue[]): Statement {
  return { sql, args };
}
