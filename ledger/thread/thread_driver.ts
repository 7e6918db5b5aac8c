/** A file that a thread of its own reads, writes and folds. */
import { Worker as NodeThread } from "node:worker_threads";
import { messageOf } from "../../core/guards.ts";
import type { FileOptions } from "../store/connections/file_driver.ts";
import type { Driver } from "../store/driver/driver.ts";
import { CLOSED, LedgerError } from "../store/driver/errors.ts";
import type { Calls, Outcome, Request } from "./messages.ts";

// Never called: an import that is spelled out has the thread's module fetched
// with an installed package, so that the thread starts offline too.
void (() => import("./database_thread.ts"));

/** How the thread is started. */
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
  #opened: Promise<Outcome> | null = null;
  #waiting: ((outcome: Outcome) => void)[] = [];
  #closed = false;

  constructor(options: ThreadDriverOptions) {
    this.location = options.path === ":memory:" ? "memory" : "file";
    this.#options = options;
  }

  readonly batch: Calls["batch"] = this.#asking("batch");
  readonly work: Calls["work"] = this.#asking("work");
  readonly copyTo: Calls["copyTo"] = this.#asking("copyTo");
  readonly vacuum: Calls["vacuum"] = this.#asking("vacuum");
  readonly emptyLog: Calls["emptyLog"] = this.#asking("emptyLog");

  /** Starts the thread; returns why it does not run, or null. */
  async start(): Promise<string | null> {
    try {
      if (this.#runs === null) this.#start();
      const outcome = await this.#opened;
      return outcome !== null && "code" in outcome ? outcome.message : null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Finishes the pending batches, closes the file and ends the thread. */
  async close(): Promise<void> {
    if (this.#closed) return;
    // Terminating the thread alone would keep the file and its locks open.
    if (this.#runs !== null) await this.#asking("close")();
    this.#closed = true;
    void this.#runs?.terminate();
    this.#runs = null;
  }

  #asking<Name extends keyof Calls>(call: Name) {
    type Result = Awaited<ReturnType<Calls[Name]>>;
    return async (...args: Parameters<Calls[Name]>): Promise<Result> => {
      if (this.#closed) throw new LedgerError("closed", CLOSED);
      const outcome = await this.#ask(this.#runs ?? this.#start(), call, args);
      if ("result" in outcome) return outcome.result as Result;
      throw new LedgerError(outcome.code, outcome.message);
    };
  }

  #ask(
    runs: Worker | NodeThread,
    call: Request["call"],
    args: Request["args"],
  ): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#waiting.push(resolve);
    runs.postMessage({ call, args } satisfies Request);
    return promise;
  }

  #start(): Worker | NodeThread {
    const own = new URL("./database_thread.ts", import.meta.url);
    const { module = own, ...file } = this.#options;
    const runs = this.#run(module, file.path);
    this.#opened = this.#ask(runs, "open", [file]);
    return runs;
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
    return this.#runs = runs;
  }
}
