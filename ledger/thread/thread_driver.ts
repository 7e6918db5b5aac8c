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

/** Runs batches, and steps of the fold, in a thread of its own. */
export class ThreadDriver implements Driver {
  readonly location: "file" | "memory";
  readonly #options: ThreadDriverOptions;
  #thread: Thread | null = null;
  #opened: Promise<Outcome> | null = null;
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
      this.#thread ??= this.#start();
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
    if (this.#thread !== null) await this.#asking("close")();
    this.#closed = true;
    this.#thread?.terminate();
    this.#thread = null;
  }

  #asking<Name extends keyof Calls>(call: Name) {
    type Result = Awaited<ReturnType<Calls[Name]>>;
    return async (...args: Parameters<Calls[Name]>): Promise<Result> => {
      if (this.#closed) throw new LedgerError("closed", CLOSED);
      const thread = this.#thread ??= this.#start();
      const outcome = await thread.ask({ call, args });
      if ("result" in outcome) return outcome.result as Result;
      throw new LedgerError(outcome.code, outcome.message);
    };
  }

  #start(): Thread {
    const { module, ...file } = this.#options;
    const own = new URL("./database_thread.ts", import.meta.url);
    const thread = new Thread(module ?? own, (reason) => {
      if (this.#thread === thread) this.#thread = null;
      return `The database thread of ${file.path} ended: ${reason}`;
    });
    this.#opened = thread.ask({ call: "open", args: [file] });
    return thread;
  }
}

const NAME = "rampkit-database";
const UNREADABLE = "an answer could not be read";

/** A module that runs beside this one, and answers one request after another. */
class Thread {
  readonly #runs: Worker | NodeThread;
  readonly #ended: (reason: string) => string;
  #waiting: ((outcome: Outcome) => void)[] = [];

  constructor(module: URL, ended: (reason: string) => string) {
    this.#ended = ended;
    // Deno loads a thread's module from a registry only through its global
    // `Worker`, which Node lacks.
    if ("Worker" in globalThis) {
      const runs = new Worker(module, { type: "module", name: NAME });
      runs.onmessage = ({ data }: MessageEvent) => this.#answered(data);
      runs.onerror = (event) => {
        event.preventDefault();
        this.#crashed(event.message);
      };
      runs.onmessageerror = () => this.#crashed(UNREADABLE);
      this.#runs = runs;
    } else {
      this.#runs = new NodeThread(module, { name: NAME })
        .on("message", (outcome) => this.#answered(outcome))
        .on("error", (error) => this.#crashed(messageOf(error)))
        .on("messageerror", () => this.#crashed(UNREADABLE));
    }
  }

  ask(request: Request): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#waiting.push(resolve);
    this.#runs.postMessage(request);
    return promise;
  }

  terminate(): void {
    void this.#runs.terminate();
  }

  #answered(outcome: Outcome): void {
    this.#waiting.shift()?.(outcome);
  }

  #crashed(reason: string): void {
    this.terminate();
    const message = this.#ended(reason);
    for (const settle of this.#waiting.splice(0)) {
      settle({ code: "crashed", message });
    }
  }
}
