import { isSafeSqlite } from "../../../core/sqlite.ts";
import {
  ClientDriver,
  type ClientResult,
  fromClient,
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
  if (known.location === "file" && !readOnly) {
    await refuseOldEngine(client, known.where);
  }
  const driver = new ClientDriver({ client, timeoutMs, readOnly, ...known });
  const opened = await reached(driver, options);
  const [answer] = await opened.batch([{ sql: "SELECT 1", args: [] }], "read");
  if (answer?.rows[0]?.[0] === 1) return opened;
  await opened.close();
  throw new TypeError(
    "Cannot use a client that answers integers as texts: make it with " +
      "`intMode` left out",
  );
}

/** Where the client's database lives, and its name in messages. */
async function databaseOf(
  client: LedgerClient,
): Promise<Pick<Driver, "location"> & { readonly where: string }> {
  const where = "the client's database";
  if (client.protocol === "http") return { location: "remote", where };
  if (client.protocol !== "file") {
    throw new TypeError(
      `Cannot use a client over ${client.protocol}: make it with a file:, ` +
        "libsql:, https: or http: address",
    );
  }
  const list = await asked(client, "PRAGMA database_list", where);
  const file = list?.rows[0]?.[list.columns.indexOf("file")];
  return typeof file === "string" && file !== ""
    ? { location: "file", where: file }
    : { location: "memory", where: ":memory:" };
}

/** An old engine may lose what others commit, so it is not used beside them. */
async function refuseOldEngine(
  client: LedgerClient,
  where: string,
): Promise<void> {
  const answer = await asked(client, "SELECT sqlite_version()", where);
  const version = String(answer?.rows[0]?.[0]);
  if (isSafeSqlite(version)) return;
  const why = `The client's SQLite ${version} can lose what another process ` +
    `commits to ${where}`;
  const advice = "give `url` in place of `client` to share the file";
  try {
    await asked(client, "PRAGMA locking_mode = EXCLUSIVE", where);
    await asked(client, "SELECT 1", where, "write");
    await asked(client, "PRAGMA locking_mode = NORMAL", where);
    // The lock goes with the next read.
    await asked(client, "SELECT count(*) FROM sqlite_schema", where);
  } catch (error) {
    await client.reconnect();
    if (!(error instanceof LedgerError) || error.code !== "busy") throw error;
    throw new LedgerError(
      "busy",
      `${why}, which has it open; stop that one, or ${advice}`,
      { cause: error },
    );
  }
  console.warn(`rampkit: ${why}: let none write it, or ${advice}`);
}

async function asked(
  client: LedgerClient,
  sql: string,
  where: string,
  mode: "read" | "write" = "read",
): Promise<ClientResult | undefined> {
  try {
    return (await client.batch([{ sql, args: [] }], mode))[0];
  } catch (error) {
    throw fromClient(error, { location: "file", where });
  }
}
