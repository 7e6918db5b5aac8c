import { Worker as NodeThread } from "node:worker_threads";
import { messageOf } from "../../core/guards.ts";
import type {
  Calls,
  FileOptions,
  Outcome,
  Request,
} from "../store/connections/file_driver.ts";
import {
  CLOSED,
  type Driver,
  LedgerError,
  reached,
} from "../store/database.ts";
import { localPath } from "../store/connections/database_url.ts";
import { warnOfNoThread } from "./no_thread.ts";

// Never called: an import that is spelled out has the thread's module fetched
// with an installed package, so that the thread starts offline too.
void (() => import("./database_thread.ts"));

interface ThreadDriverOptions extends FileOptions {
  /** Module that the thread runs. @default {the package's own} */
  readonly module?: URL;
}

const NAME = "rampkit-database";
const UNREADABLE = "an answer could not be read";

/** Runs batches, and work of the fold, in a thread of its own: one after another. */
export class ThreadDriver implements Driver {
  readonly location: "file" | "memory";
  readonly #options: ThreadDriverOptions;
  #runs: Worker | NodeThread | null = null;
  #waiting: ((outcome: Outcome) => void)[] = [];
  #closing: Promise<void> | null = null;

  constructor(options: ThreadDriverOptions) {
    this.location = options.path === ":memory:" ? "memory" : "file";
    this.#options = options;
  }

  readonly batch: Calls["batch"] = (...args) => this.#ask("batch", args);
  readonly work: Calls["work"] = (...args) => this.#ask("work", args);
  readonly copyTo: Calls["copyTo"] = (...args) => this.#ask("copyTo", args);
  readonly vacuum: Calls["vacuum"] = () => this.#ask("vacuum", []);
  readonly emptyLog: Calls["emptyLog"] = () => this.#ask("emptyLog", []);

  /** Finishes the pending batches, closes the file and ends the thread. */
  close(): Promise<void> {
    return this.#closing ??= this.#end();
  }

  async #end(): Promise<void> {
    // Terminating the thread alone would keep the file and its locks open.
    if (this.#runs !== null) await this.#ask("close", []);
    void this.#runs?.terminate();
    this.#runs = null;
  }

  async #ask<Result>(
    call: Request["call"],
    args: Request["args"],
  ): Promise<Result> {
    if (this.#closing !== null) throw new LedgerError("closed", CLOSED);
    const own = new URL("./database_thread.ts", import.meta.url);
    const { module = own, ...file } = this.#options;
    const runs = this.#runs ??= this.#run(module, file.path);
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    runs.postMessage({ call, args, file } satisfies Request);
    this.#waiting.push(resolve);
    const outcome = await promise;
    if ("result" in outcome) return outcome.result as Result;
    throw new LedgerError(outcome.code, outcome.message);
  }

  // Apart, because a bundler that sees where the module comes from takes every file of
  // the package for a thread's.
  #run(module: URL, path: string): Worker | NodeThread {
    const answered = (outcome: Outcome) => {
      // A thread that has ended may still have answered before.
      if (this.#runs === runs) this.#waiting.shift()?.(outcome);
    };
    const crashed = (reason: string) => {
      void runs.terminate();
      if (this.#runs !== runs) return;
      this.#runs = null;
      const message = `The database thread of ${path} ended: ${reason}`;
      for (const settle of this.#waiting.splice(0)) {
        settle({ code: "crashed", message });
      }
    };
    let runs: Worker | NodeThread;
    // Deno loads a thread's module from a registry only through its global
    // `Worker`, which Node lacks.
    if ("Worker" in globalThis) {
      runs = new Worker(module, { type: "module", name: NAME });
      runs.onmessage = ({ data }: MessageEvent) => answered(data);
      runs.onerror = (event) => {
        event.preventDefault();
        crashed(event.message);
      };
      runs.onmessageerror = () => crashed(UNREADABLE);
    } else {
      runs = new NodeThread(module, { name: NAME }).on("message", answered)
        .on("error", (error) => crashed(messageOf(error)))
        .on("messageerror", () => crashed(UNREADABLE));
    }
    return runs;
  }
}

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
  const { url, busyTimeoutMs = 50, readOnly = false, threadModule } = options;
  const path = localPath(url);
  if (path === null) {
    const { remoteDriver } = await import(
      "../store/connections/remote_driver.ts"
    );
    return await reached(remoteDriver(options), options);
  }
  const file = { path, busyTimeoutMs, readOnly };
  if (options.worker ?? path !== ":memory:") {
    const module = threadModule && { module: new URL(threadModule) };
    try {
      return await reached(new ThreadDriver({ ...file, ...module }), options);
    } catch (error) {
      if (error instanceof LedgerError && error.code !== "crashed") throw error;
      (options.onNoThread ?? warnOfNoThread)(messageOf(error));
    }
  }
  const { FileDriver } = await import("../store/connections/file_driver.ts");
  return await reached(new FileDriver(file), options);
}
