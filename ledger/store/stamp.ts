import { hex } from "@scure/base";
import { sleep } from "../../core/waiting/sleep.ts";
import { UNFINISHED_COPY } from "./copied_rows.ts";
import type { Driver, SqlValue, Statement } from "./driver/driver.ts";
import { LedgerError } from "./driver/errors.ts";
import { isLostRace } from "./driver/retrying_driver.ts";
import { schema, SCHEMA_VERSION, stampSchema } from "./schema.ts";
import { Columns, plain } from "./tables/columns.ts";
import { selectTables } from "./table_names.ts";

/** What a new ledger is stamped with. */
export interface StampOptions {
  /** Environment the ledger belongs to. */
  readonly environment: string;
  /** The clock, in ms. */
  readonly now: () => number;
  /** @default crypto.getRandomValues */
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
 * Makes the tables of a new ledger, or checks those of one that is there. Several
 * processes may do so at once: one of them makes it.
 *
 * @returns The stamp of the ledger.
 * @throws {LedgerError} `not_a_ledger`, `other_schema` or `wrong_environment`.
 */
export async function makeLedger(
  driver: Driver,
  options: StampOptions,
): Promise<LedgerStamp> {
  const found = await readStamp(driver);
  if (found !== null) return checkStamp(found, options.environment);
  try {
    await driver.batch([
      statement(stampSchema),
      // Refused where another process was first.
      {
        ...statement(
          `INSERT INTO rampkit
            (id, schema_version, environment, ledger_id, created_at)
            VALUES (1, ?, ?, ?, ?)`,
          SCHEMA_VERSION,
          ...newStamp(options),
        ),
        expects: true,
      },
      ...schema.map((sql) => statement(sql)),
    ], "write");
  } catch (error) {
    if (!isLostRace(error)) throw error;
  }
  const made = await readStamp(driver, "write");
  if (made === null) {
    throw new LedgerError("failed", "The ledger's stamp was not stored");
  }
  checkStamp(made, options.environment);
  if (driver.location === "remote") await untilReadable(driver);
  return made;
}

/** A replica that is further behind reports what it lacks. */
const REPLICA_TRIES = 200;
const REPLICA_PAUSE_MS = 25;

/** A replica has new tables a moment later than its primary. */
async function untilReadable(driver: Driver): Promise<void> {
  for (let tries = 0; tries < REPLICA_TRIES; tries++) {
    if (await readStamp(driver) !== null) return;
    await sleep(REPLICA_PAUSE_MS);
  }
}

/**
 * Checks a ledger that is only to be read, and changes nothing.
 *
 * @param environment Environment it must belong to; left out, any.
 * @returns The stamp of the ledger.
 * @throws {LedgerError} `not_a_ledger`, `other_schema` or `wrong_environment`.
 */
export async function checkStored(
  driver: Driver,
  environment?: string,
): Promise<LedgerStamp> {
  const stamp = await readStamp(driver);
  if (stamp === null) {
    throw new LedgerError("not_a_ledger", "The database is empty: no ledger");
  }
  return checkStamp(stamp, environment ?? stamp.environment);
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
  const [rows] = await driver.batch([
    statement(`SELECT ${STAMP.list()} FROM rampkit`),
  ], mode);
  const row = rows?.rows[0];
  return row === undefined ? null : STAMP.read(row);
}

/** A write that changes nothing. */
export const touchStamp: Statement = {
  sql: "UPDATE rampkit SET schema_version = schema_version",
  args: [],
};

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

/**
 * Refuses a ledger of another schema, and leaves an empty database to be one.
 *
 * @throws {LedgerError} `not_a_ledger` or `other_schema`.
 */
export async function requireSchema(driver: Driver): Promise<void> {
  const stamp = await readStamp(driver);
  if (stamp !== null) checkSchema(stamp);
}

function checkSchema({ schemaVersion }: LedgerStamp): void {
  if (schemaVersion === SCHEMA_VERSION) return;
  throw new LedgerError(
    "other_schema",
    `Cannot use the ledger: its schema is ${schemaVersion}, and this version ` +
      `of Rampkit uses ${SCHEMA_VERSION}; nothing was written. Run \`ledger ` +
      "export` with the version that wrote it, then `ledger import` with this " +
      "one into a new ledger",
  );
}

function checkStamp(stamp: LedgerStamp, environment: string): LedgerStamp {
  checkSchema(stamp);
  if (stamp.environment !== environment) {
    throw new LedgerError(
      "wrong_environment",
      `The ledger belongs to the environment ` +
        `${JSON.stringify(stamp.environment)}, not to ` +
        `${JSON.stringify(environment)}; use one ledger for each`,
    );
  }
  return stamp;
}

function statement(sql: string, ...args: readonly SqlValue[]): Statement {
  return { sql, args };
}
