/**
 * The thread of a local database: takes one request after the other.
 * `openLedger` starts it, so it is not a module to import. A program that is
 * bundled with this package bundles it a second time, as a file of its own, and
 * names that file as `threadModule`:
 *
 * ```sh
 * esbuild app.js thread=@rampkit/onramp/thread --bundle --platform=node \
 *   --format=esm --outdir=dist
 * ```
 *
 * @module
 */
import { free } from "../../../core/bytes.ts";
import { parentPort } from "node:worker_threads";
import { Connection } from "./connection.ts";
import type { Answer, Outcome, Request, Task } from "./_messages.ts";
import { fromSqlite } from "../driver/sqlite_errors.ts";
import { withDerivedColumns } from "../tables/events/append.ts";

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

// Nothing else happens to a connection while it copies.
let last = Promise.resolve();
port.onmessage = ({ data }) => {
  last = last.then(() => answer(data));
};

async function answer(data: Request): Promise<void> {
  const outcome = data.task === "copy"
    ? await copyTo(data.path)
    : carryOut(data);
  port.postMessage({ id: data.id, ...outcome });
  // Both sides have copies of their own.
  if ("results" in outcome) {
    for (const { rows } of outcome.results) rows.forEach(freeBytes);
  }
  if (data.task === "batch") {
    for (const { args } of data.statements) freeBytes(args);
  }
}

type Work = Exclude<Task, { readonly task: "copy" }>;

function carryOut(request: Work): Outcome {
  try {
    return { results: work(request) };
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): Outcome {
  const { code, message } = fromSqlite(error, where);
  return { code, message };
}

async function copyTo(path: string): Promise<Outcome> {
  try {
    await connection?.copyTo(path);
    return { results: [] };
  } catch (error) {
    return failed(error);
  }
}

function work(request: Work): ReturnType<Connection["batch"]> {
  if (request.task === "open") {
    where = request.options.path;
    connection = new Connection(request.options);
    return [];
  }
  if (connection === null) throw new TypeError("The database is not open");
  switch (request.task) {
    case "batch": {
      const statements = request.statements.map(withDerivedColumns);
      const results = connection.batch(statements, request.mode);
      return results.map((result, at) => {
        const classes = statements[at]?.classes;
        return classes === undefined ? result : { ...result, classes };
      });
    }
    case "vacuum":
      connection.vacuum();
      return [];
    case "emptyLog": {
      const rows = [[connection.emptyLog() ? 1 : 0]];
      return [{ columns: ["emptied"], rows, rowsAffected: 0 }];
    }
    case "close":
      connection.close();
      return [];
  }
}

/** Frees the bytes among some values. */
function freeBytes(values: readonly unknown[]): void {
  for (const value of values) if (value instanceof Uint8Array) free(value);
}
