import { isSafeSqlite } from "../../../core/sqlite.ts";
import { select, statement, write } from "../database.ts";
import {
  ClientDriver,
  type ClientDriverOptions,
  type LedgerClient,
} from "./client_driver.ts";
import type { Driver } from "../driver/driver.ts";
import { LedgerError } from "../driver/errors.ts";
import { reached } from "../driver/retrying_driver.ts";

/** Which client to use, and how. */
export interface OpenClientOptions {
  /**
   * A client of `@libsql/client`, made by its `createClient`. The ledger uses
   * it until it is closed itself; closing the client is yours. A client of a
   * file whose SQLite is before 3.51.3 is refused while others have it open.
   */
  readonly client: LedgerClient;
  /**
   * Longest wait for one answer of a database on a server, in ms. The request
   * itself is given up only if the client's `fetch` does that.
   *
   * @default 10000
   */
  readonly timeoutMs?: number;
  /**
   * Gives up with `busy` after another writer has held the lock this long,
   * in ms.
   *
   * @default 5000
   */
  readonly busyLimitMs?: number;
  /**
   * Only reads: a batch that would write fails.
   *
   * @default false
   */
  readonly readOnly?: boolean;
}

/**
 * Opens the database behind a client.
 *
 * @throws {TypeError} When the client speaks over WebSockets, or answers
 * integers as texts.
 * @throws {LedgerError} As `openDriver()`.
 */
export async function openClient(options: OpenClientOptions): Promise<Driver> {
  const { client, timeoutMs = 10_000, readOnly = false } = options;
  const known = await databaseOf(client);
  if (known.location === "file" && !readOnly) await refuseOldEngine(known);
  const opened = await reached(
    new ClientDriver({ ...known, timeoutMs, readOnly }),
    options,
  );
  const [[one] = []] = await select(opened, "SELECT 1");
  if (one === 1) return opened;
  await opened.close();
  throw new TypeError(
    "Cannot use a client that answers integers as texts: make it with " +
      "`intMode` left out",
  );
}

/** A client's database, and its name in messages. */
type Known = Pick<ClientDriverOptions, "client" | "location" | "where">;

async function databaseOf(client: LedgerClient): Promise<Known> {
  const where = "the client's database";
  if (client.protocol === "http") return { client, location: "remote", where };
  if (client.protocol !== "file") {
    throw new TypeError(
      `Cannot use a client over ${client.protocol}: make it with a file:, ` +
        "libsql:, https: or http: address",
    );
  }
  const asked = new ClientDriver({ client, location: "memory", where });
  const [[, , file] = []] = await select(asked, "PRAGMA database_list");
  return typeof file === "string" && file !== ""
    ? { client, location: "file", where: file }
    : { client, location: "memory", where: ":memory:" };
}

/** An old engine may lose what others commit, so it is not used beside them. */
async function refuseOldEngine(known: Known): Promise<void> {
  const asked = new ClientDriver(known);
  const [[version] = []] = await select(asked, "SELECT sqlite_version()");
  if (isSafeSqlite(String(version))) return;
  const why = `The client's SQLite ${version} can lose what another process ` +
    `commits to ${known.where}`;
  const advice = "give `url` in place of `client` to share the file";
  try {
    await select(asked, "PRAGMA locking_mode = EXCLUSIVE");
    await write(asked, [statement("SELECT 1")]);
    await select(asked, "PRAGMA locking_mode = NORMAL");
    // The lock goes with the next read.
    await select(asked, "SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== "busy") throw error;
    throw new LedgerError(
      "busy",
      `${why}, which has it open; stop that one, or ${advice}`,
      { cause: error },
    );
  }
  console.warn(`rampkit: ${why}: let none write it, or ${advice}`);
}
