/** Makes a ledger in a database, or looks whose it is. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import { type Driver, LedgerError, statement, write } from "./database.ts";
import { hexOf } from "./events.ts";
import { SCHEMA_VERSION, schemaFor } from "./schema.ts";

export interface LedgerStamp {
  readonly environment: string;
  /** Its identity, 32 hex digits, whichever file or server holds it. */
  readonly ledgerId: string;
  /** False while another ledger is moved into it. */
  readonly isWhole: boolean;
}

/** Fold version of a ledger that is being moved in: nothing folds it. */
export const UNFINISHED: number = Number.MAX_SAFE_INTEGER;

/** How a ledger is opened, whatever its database. */
export interface LedgerOptions {
  /**
   * Environment the ledger belongs to. A new ledger is stamped with it, and
   * opening it with another is refused.
   *
   * @default the ledger's own stamp
   */
  readonly environment?: string;
  /**
   * Environment a new ledger is stamped with when `environment` is left out.
   */
  readonly defaultEnvironment?: string;
  /**
   * Asset table that gives the precision of amounts. Every process that folds
   * the ledger must name the same.
   *
   * @default "sandbox" in the environment `sandbox`, else "production"
   */
  readonly assets?: AssetTable;
  /**
   * Only reads: nothing is created, and every write fails.
   *
   * @default false
   */
  readonly readOnly?: boolean;
  /**
   * Time from which transitions are sent to handlers and targets, UTC ISO 8601:
   * what ended before is logged and booked, but not sent. A ledger that went
   * live at another time is refused.
   *
   * @default when a poller or an endpoint first works on it
   */
  readonly goLive?: string;
  /** The clock, in ms. @default Date.now */
  readonly now?: () => number;
  /** Random bytes for salts. @default crypto.getRandomValues */
  readonly randomBytes?: (length: number) => Uint8Array;
  /**
   * Opens it also where a move into it was stopped, to move it in again.
   *
   * @default false
   */
  readonly unfinished?: boolean;
}

export interface CreateOptions extends LedgerOptions {
  readonly foldVersion: number;
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
}

/** Safe when several processes open a new ledger at the same time. */
export async function createLedger(
  driver: Driver,
  options: CreateOptions,
): Promise<LedgerStamp> {
  const there = await readStamp(driver);
  if (there !== null) return checked(there, options);
  if (options.readOnly) {
    throw new LedgerError("not_a_ledger", "The database is empty: no ledger");
  }
  const { foldVersion, now, randomBytes } = options;
  const environment = options.environment ?? options.defaultEnvironment;
  if (environment === undefined) {
    throw new TypeError(
      "Cannot create a ledger without an environment: pass " +
        '`environment`, for example "sandbox"',
    );
  }
  const ledgerId = hexOf(randomBytes(16));
  const stamp = await write(driver, [
    ...schemaFor(environment).map((sql) => statement(sql)),
    statement(
      "INSERT INTO ledger VALUES (1, ?, ?, ?, ?, ?, NULL, ?, 0, 0, 0, '{}')",
      ...[SCHEMA_VERSION, ledgerId, environment, randomBytes(32)],
      ...[Math.floor(now()), foldVersion],
    ),
  ]).then(() => ({ environment, ledgerId, isWhole: true }), async (error) => {
    // Another process may have made it first.
    const other = await readStamp(driver, "write");
    if (other === null) throw error;
    return other;
  });
  if (driver.location === "remote") await untilReadable(driver);
  return checked(stamp, options);
}

/** A replica has new tables a moment later than its primary. */
async function untilReadable(driver: Driver): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await readStamp(driver).catch(() => null) !== null) return;
    await sleep(25);
  }
}

/** Tables of ledgers of before this schema. */
const FORMER = "rampkit";

/** Null where the database is empty. */
export async function readStamp(
  driver: Driver,
  mode: "read" | "write" = "read",
): Promise<LedgerStamp | null> {
  const [tables] = await driver.batch([statement(
    `SELECT name FROM sqlite_schema WHERE type = 'table'
      AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
      AND name NOT LIKE 'libsql@_%' ESCAPE '@' AND name NOT LIKE '@_%' ESCAPE '@'
      ORDER BY name`,
  )], mode);
  const names = tables?.rows.map(([name]) => String(name)) ?? [];
  if (names.length === 0) return null;
  if (names.includes(FORMER)) throw anotherSchema("an earlier one");
  if (!names.includes("ledger") || !names.includes("events")) {
    throw new LedgerError(
      "not_a_ledger",
      "The database belongs to another program (it has the table " +
        `${JSON.stringify(names[0])}); choose another path`,
    );
  }
  const [found] = await driver.batch([
    statement("SELECT schema, environment, id, fold_version FROM ledger"),
  ], mode);
  const [schema, environment, ledgerId, foldVersion] = found?.rows[0] ?? [];
  if (schema !== SCHEMA_VERSION) throw anotherSchema(`${schema}`);
  return {
    environment: String(environment),
    ledgerId: String(ledgerId),
    isWhole: foldVersion !== UNFINISHED,
  };
}

function checked(
  stamp: LedgerStamp,
  { environment = stamp.environment, unfinished = false }: CreateOptions,
): LedgerStamp {
  if (stamp.environment !== environment) {
    throw new LedgerError(
      "wrong_environment",
      `The ledger belongs to the environment ` +
        `${JSON.stringify(stamp.environment)}, not to ` +
        `${JSON.stringify(environment)}; use one ledger for each`,
    );
  }
  if (!stamp.isWhole && !unfinished) {
    throw new LedgerError(
      "failed",
      "Cannot open the ledger: another one was moved into it in part only; " +
        "run `ledger import --move` again with the whole file, which begins anew",
    );
  }
  return stamp;
}

function anotherSchema(schema: string): LedgerError {
  return new LedgerError(
    "other_schema",
    `Cannot open the ledger: its schema is ${schema}, and this version of ` +
      `Rampkit uses ${SCHEMA_VERSION}; nothing was written. Run \`ledger ` +
      "export` with the version that wrote it, then `ledger import` with this " +
      "one into a new ledger",
  );
}
