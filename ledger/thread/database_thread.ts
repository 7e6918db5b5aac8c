/**
 * The thread that owns a ledger's file: it appends, folds, seals and reads, one after
 * another. A program that bundles the package starts this module itself.
 *
 * @module
 */
import { redactArrivals } from "../erasure/arrivals.ts";
import { parentPort } from "node:worker_threads";
import { free } from "../../core/bytes.ts";
import { Connection } from "../store/connections/connection.ts";
import { randomPool } from "../store/random_pool.ts";
import type { Driver, ResultSet } from "../store/driver/driver.ts";
import { RetryingDriver } from "../store/driver/retrying_driver.ts";
import { fromSqlite } from "../store/driver/sqlite_errors.ts";
import { project } from "../projection/project.ts";
import type { Answer, Outcome, Request, Task } from "./messages.ts";

/** What a thread talks to its starter through. */
interface Port {
  onmessage: ((message: { readonly data: Request }) => void) | null;
  postMessage(answer: Answer): void;
}

// In Node a port of its own; elsewhere the global scope, whose types describe
// the window that all other files run in.
const port = ("Worker" in globalThis ? self : parentPort) as unknown as Port;
let connection: Connection | null = null;
let where = "";
const randomBytes = randomPool();
// Nothing else happens to the connection while it copies or folds.
let last = Promise.resolve();

port.onmessage = ({ data }) => {
  last = last.then(() => answer(data));
};

async function answer(data: Request): Promise<void> {
  const outcome = await carryOut(data);
  port.postMessage({ id: data.id, ...outcome });
  // Both sides have copies of their own.
  if ("results" in outcome) {
    for (const { rows } of outcome.results) rows.forEach(freeBytes);
  }
  if (data.task === "batch") {
    for (const { args } of data.statements) freeBytes(args);
  }
}

async function carryOut(request: Task): Promise<Outcome> {
  try {
    if (request.task === "open") {
      where = request.options.path;
      connection = new Connection(request.options);
      return { results: [] };
    }
    if (connection === null) throw new TypeError("The database is not open");
    if (request.task === "project") {
      const { assets, maxEvents } = request;
      const redactNew = redactArrivals({
        ...{ assets, now: Date.now, randomBytes },
      });
      return {
        projected: await project(here, { assets, maxEvents, redactNew }),
      };
    }
    if (request.task === "copy") await connection.copyTo(request.path);
    return { results: work(connection, request) };
  } catch (error) {
    const { code, message } = fromSqlite(error, where);
    return { code, message };
  }
}

function work(open: Connection, request: Task): ResultSet[] {
  switch (request.task) {
    case "batch":
      return open.batch(request.statements, request.mode);
    case "vacuum":
      open.vacuum();
      return [];
    case "emptyLog": {
      const rows = [[open.emptyLog() ? 1 : 0]];
      return [{ columns: ["emptied"], rows, rowsAffected: 0 }];
    }
    case "close":
      open.close();
      return [];
    default:
      return [];
  }
}

/** The database as the fold sees it, without a message for each batch. */
const here: Driver = new RetryingDriver({
  location: "file",
  // deno-lint-ignore require-await -- A driver answers with a promise.
  async batch(statements, mode) {
    if (connection === null) throw new TypeError("The database is not open");
    return connection.batch(statements, mode);
  },
  // deno-lint-ignore require-await -- A driver answers with a promise.
  emptyLog: async () => connection?.emptyLog() ?? true,
  close: () => Promise.resolve(),
});

/** Frees the bytes among some values. */
function freeBytes(values: readonly unknown[]): void {
  for (const value of values) if (value instanceof Uint8Array) free(value);
}
