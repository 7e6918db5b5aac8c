/** A file that a thread of its own reads, writes and folds. */
import { Worker as NodeThread } from "node:worker_threads";
import { messageOf } from "../../core/guards.ts";
import type { FileOptions } from "../store/connections/file_driver.ts";
import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import { CLOSED, LedgerError } from "../store/driver/errors.ts";
import type { Projected } from "../projection/project.ts";
import type { Answer, Calls, Outcome, StepOptions } from "./messages.ts";

// Never called: an import that is spelled out has the thread's module fetched
// with an installed package, so that the thread starts offline too.
void (() => import("./database_thread.ts"));

/** How the thread is started. */
export interface ThreadDriverOptions extends FileOptions {
  /** Module that the thread runs. @default {the package's own} */
  readonly module?: URL;
}

/** Runs batches, and steps of the fold, in a thread of its own. */
export class ThreadDriver implements Driver {
  readonly location: "file" | "memory";
  readonly #options: ThreadDriverOptions;
  #thread: Thread | null = null;
  #opened: Promise<Outcome> = Promise.resolve({ result: null });
  #pending = new Map<number, (outcome: Outcome) => void>();
  #nextId = 1;
  #closed = false;

  constructor(options: ThreadDriverOptions) {
    this.location = options.path === ":memory:" ? "memory" : "file";
    this.#options = options;
  }

  /** Starts the thread; returns why it does not run, or null. */
  async start(): Promise<string | null> {
    try {
      this.#thread ??= this.#start();
      const outcome = await this.#opened;
      return "code" in outcome ? outcome.message : null;
    } catch (error) {
      return messageOf(error);
    }
  }

  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    return this.#ask("batch", statements, mode);
  }

  /** Folds the next events where the database is. */
  project(options: StepOptions): Promise<Projected> {
    return this.#ask("project", options);
  }

  copyTo(path: string): Promise<void> {
    return this.#ask("copyTo", path);
  }

  vacuum(): Promise<void> {
    return this.#ask("vacuum");
  }

  emptyLog(): Promise<boolean> {
    return this.#ask("emptyLog");
  }

  /** Finishes the pending batches, closes the file and ends the thread. */
  async close(): Promise<void> {
    if (this.#closed) return;
    // Terminating the thread alone would keep the file and its locks open.
    if (this.#thread !== null) await this.#ask("close");
    this.#closed = true;
    this.#thread?.terminate();
    this.#thread = null;
  }

  async #ask<Name extends keyof Calls>(
    call: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    if (this.#closed) throw new LedgerError("closed", CLOSED);
    const thread = this.#thread ??= this.#start();
    const outcome = await this.#send(thread, call, args);
    if ("code" in outcome) throw new LedgerError(outcome.code, outcome.message);
    return outcome.result as Awaited<ReturnType<Calls[Name]>>;
  }

  #send(
    thread: Thread,
    call: keyof Calls,
    args: readonly unknown[],
  ): Promise<Outcome> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      thread.post({ id, call, args });
    });
  }

  #start(): Thread {
    const { module, ...options } = this.#options;
    const thread = startThread(
      module ?? new URL("./database_thread.ts", import.meta.url),
      {
        onMessage: (message) => {
          const answer = message as Answer;
          const settle = this.#pending.get(answer.id);
          this.#pending.delete(answer.id);
          settle?.(answer);
        },
        onCrash: (reason) => this.#crashed(thread, reason),
      },
    );
    this.#opened = this.#send(thread, "open", [options]);
    return thread;
  }

  #crashed(thread: Thread, reason: string): void {
    thread.terminate();
    if (this.#thread === thread) this.#thread = null;
    const pending = this.#pending;
    this.#pending = new Map();
    for (const settle of pending.values()) {
      settle({
        code: "crashed",
        message:
          `The database thread of ${this.#options.path} ended: ${reason}`,
      });
    }
  }
}

/** A module that runs beside this one. */
interface Thread {
  post(message: unknown): void;
  terminate(): void;
}

interface ThreadEvents {
  readonly onMessage: (message: unknown) => void;
  readonly onCrash: (reason: string) => void;
}

const NAME = "rampkit-database";
const UNREADABLE = "an answer could not be read";

/**
 * Deno loads a thread's module from a registry only through its global `Worker`,
 * which Node lacks.
 */
function startThread(module: URL, events: ThreadEvents): Thread {
  return "Worker" in globalThis
    ? startWorker(module, events)
    : startNodeThread(module, events);
}

function startWorker(
  module: URL,
  { onMessage, onCrash }: ThreadEvents,
): Thread {
  const worker = new Worker(module, { type: "module", name: NAME });
  worker.onmessage = ({ data }: MessageEvent) => onMessage(data);
  worker.onerror = (event) => {
    event.preventDefault();
    onCrash(event.message);
  };
  worker.onmessageerror = () => onCrash(UNREADABLE);
  return {
    post: (message) => worker.postMessage(message),
    terminate: () => worker.terminate(),
  };
}

function startNodeThread(
  module: URL,
  { onMessage, onCrash }: ThreadEvents,
): Thread {
  const thread = new NodeThread(module, { name: NAME });
  thread.on("message", onMessage);
  thread.on("error", (error: Error) => onCrash(error.message));
  thread.on("messageerror", () => onCrash(UNREADABLE));
  return {
    post: (message) => thread.postMessage(message),
    terminate: () => void thread.terminate(),
  };
}
