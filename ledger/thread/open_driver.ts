import { localPath } from "../store/connections/database_url.ts";
import type { FileOptions } from "../store/connections/file_driver.ts";
import { warnOfNoThread } from "./no_thread.ts";
import type { Driver } from "../store/driver/driver.ts";
import { reached } from "../store/driver/retrying_driver.ts";
import { ThreadDriver } from "./thread_driver.ts";

/** Which database to open, and how. */
export interface OpenDriverOptions {
  /** `file:` path, `:memory:`, or a `libsql:`, `https:` or `http:` address. */
  readonly url: string;
  /** Token of a remote database. */
  readonly authToken?: string;
  /**
   * Longest wait for one request to a remote database, in ms.
   *
   * @default 10000
   */
  readonly timeoutMs?: number;
  /**
   * Whether a file database works in a thread of its own, so that a lock or a
   * slow disk never stops the caller's event loop.
   *
   * @default true for files
   */
  readonly worker?: boolean;
  /**
   * Module of that thread, where a bundler has put it: its address. It is
   * `@rampkit/onramp/thread`, bundled as a file of its own.
   *
   * @default {the one of this package}
   */
  readonly threadModule?: string | URL;
  /**
   * Called with the reason when that thread cannot be started, as in a program
   * that is bundled with this package and names no `threadModule`. The database
   * then works in the caller's thread.
   *
   * @default {says so on standard error, once a process}
   */
  readonly onNoThread?: (reason: string) => void;
  /**
   * Gives up with `busy` after another writer has held the lock this long,
   * in ms.
   *
   * @default 5000
   */
  readonly busyLimitMs?: number;
  /**
   * Waits this long inside the driver, blocking its thread, before it asks
   * again from outside, in ms.
   *
   * @default 50
   */
  readonly busyTimeoutMs?: number;
  /**
   * Only reads: opening, closing and batches never change a byte of the
   * database, and a missing file is not created.
   *
   * @default false
   */
  readonly readOnly?: boolean;
}

/**
 * Opens a database by its address. Local files are created when missing.
 *
 * @param options The address, and how to open it.
 * @throws {TypeError} For a `threadModule` that is not an address.
 * @throws {LedgerError} `cannot_open`, `not_a_database`, `unauthorised`,
 * `unreachable` and others of {@linkcode LedgerErrorCode}.
 *
 * @example Open a database in memory
 * ```ts
 * import { openDriver } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const driver = await openDriver({ url: ":memory:", worker: false });
 * const [answer] = await driver.batch(
 *   [{ sql: "SELECT 1 AS one", args: [] }],
 *   "read",
 * );
 * assert.deepEqual(answer?.rows, [[1]]);
 * await driver.close();
 * ```
 */
export async function openDriver(options: OpenDriverOptions): Promise<Driver> {
  const { url, busyTimeoutMs = 50, readOnly = false, worker } = options;
  const path = localPath(url);
  const file = path === null ? null : { path, busyTimeoutMs, readOnly };
  const thread = file !== null && (worker ?? path !== ":memory:")
    ? await startThread(file, options)
    : null;
  const driver = thread ?? await openHere(file, options);
  return await reached(driver, options);
}

async function startThread(
  file: FileOptions,
  { threadModule, onNoThread = warnOfNoThread }: OpenDriverOptions,
): Promise<ThreadDriver | null> {
  const module = threadModule === undefined ? {} : {
    module: new URL(threadModule),
  };
  const thread = new ThreadDriver({ ...file, ...module });
  const reason = await thread.start();
  if (reason === null) return thread;
  onNoThread(reason);
  return null;
}

async function openHere(
  file: FileOptions | null,
  options: OpenDriverOptions,
): Promise<Driver> {
  if (file === null) {
    const { remoteDriver } = await import(
      "../store/connections/remote_driver.ts"
    );
    return remoteDriver(options);
  }
  const { FileDriver } = await import("../store/connections/file_driver.ts");
  return new FileDriver(file);
}
