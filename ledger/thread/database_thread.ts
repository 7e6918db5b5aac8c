/**
 * The thread that owns a ledger's file: it appends, folds, seals and reads, one after
 * another. A program that bundles the package starts this module itself.
 *
 * @module
 */
import { parentPort } from "node:worker_threads";
import { free } from "../../core/bytes.ts";
import { redactArrivals } from "../erasure/arrivals.ts";
import { NEXT_EVENTS, type Work } from "../projection/project.ts";
import { COMPARE_ROWS, FOLD_ROWS } from "../projection/refold.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  FileDriver,
  type Outcome,
  type Request,
} from "../store/connections/file_driver.ts";
import {
  type Driver,
  fromSqlite,
  type ResultSet,
  retrying,
  type Statement,
} from "../store/database.ts";
import { cryptoBytes as randomBytes } from "../store/events.ts";

/** What a thread talks to its starter through. */
interface Port {
  onmessage: ((message: { readonly data: Request }) => void) | null;
  postMessage(outcome: Outcome): void;
}

const WORKS: readonly Work<never, unknown>[] = [
  ...[NEXT_EVENTS, FOLD_ROWS, COMPARE_ROWS],
];

class OwnedFile extends FileDriver implements Driver {
  /**
   * As the fold sees the database, without a message for each batch: one for all
   * work, because the fold remembers by it whose log is to be emptied.
   */
  readonly #here: Driver = retrying(this);

  async work(name: string, task: { readonly assets: AssetTable }) {
    const { assets, ...options } = task;
    const redactNew = redactArrivals({ assets, now: Date.now, randomBytes });
    const parts = { driver: this.#here, assets, redactNew };
    const work = WORKS.find((one) => one.name === name);
    return await work?.make(parts, options as never);
  }
}

// In Node a port of its own; elsewhere the global scope, whose types describe
// the window that all other files run in.
const port = ("Worker" in globalThis ? self : parentPort) as unknown as Port;
let owned: OwnedFile | null = null;
// Nothing else happens to the file while it is copied or folded.
let last = Promise.resolve();

port.onmessage = ({ data }) => {
  last = last.then(() => answer(data));
};

async function answer(request: Request): Promise<void> {
  const outcome = await carryOut(request);
  port.postMessage(outcome);
  if (request.call !== "batch") return;
  // Both sides have copies of their own.
  if ("result" in outcome) {
    for (const { rows } of outcome.result as ResultSet[]) rows.forEach(freeAll);
  }
  for (const { args } of request.args[0] as Statement[]) freeAll(args);
}

async function carryOut({ call, args, file }: Request): Promise<Outcome> {
  try {
    owned ??= new OwnedFile(file);
    return { result: await Reflect.apply(owned[call], owned, args) };
  } catch (error) {
    const { code, message } = fromSqlite(error, file.path);
    return { code, message };
  }
}

/** Frees the bytes among some values. */
function freeAll(values: readonly unknown[]): void {
  for (const value of values) if (value instanceof Uint8Array) free(value);
}
