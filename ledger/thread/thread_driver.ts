/** A file that a thread of its own reads, writes and folds. */
import { messageOf } from "../../core/guards.ts";
import type { ConnectionOptions } from "../store/connections/database_url.ts";
import { startThread, type Thread } from "../store/connections/thread.ts";
import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import type { Projected } from "../projection/project.ts";
import type { Answer, Outcome, StepOptions, Task } from "./messages.ts";

// Never called: an import that is spelled out has the thread's module fetched
// with an installed package, so that the thread starts offline too.
void (() => import("./database_thread.ts"));

/** How the thread is started. */
export interface ThreadDriverOptions extends ConnectionOptions {
  /** Module that the thread runs. @default {the package's own} */
  readonly module?: URL;
}

/** Runs batches, and steps of the fold, in a thread of its own. */
export class ThreadDriver implements Driver {
  readonly location: "file" | "memory";
  readonly #options: ThreadDriverOptions;
  #thread: Thread | null = null;
  #opened: Promise<Outcome> = Promise.resolve({ results: [] });
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

  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} `crashed` leaves open whether a write happened.
   */
  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    return this.#results({ task: "batch", statements, mode });
  }

  /** Folds the next events where the database is. */
  async project(options: StepOptions): Promise<Projected> {
    const outcome = await this.#ask({ task: "project", ...options });
    if ("projected" in outcome) return outcome.projected;
    throw new LedgerError("failed", "The thread answered something else");
  }

  async copyTo(path: string): Promise<void> {
    await this.#ask({ task: "copy", path });
  }

  async vacuum(): Promise<void> {
    await this.#ask({ task: "vacuum" });
  }

  async emptyLog(): Promise<boolean> {
    const [result] = await this.#results({ task: "emptyLog" });
    return result?.rows[0]?.[0] === 1;
  }

  /** Finishes the pending batches, closes the file and ends the thread. */
  async close(): Promise<void> {
    if (this.#closed) return;
    // Terminating the thread alone would keep the file and its locks open.
    if (this.#thread !== null) await this.#ask({ task: "close" });
    this.#closed = true;
    this.#thread?.terminate();
    this.#thread = null;
  }

  async #results(task: Task): Promise<ResultSet[]> {
    const outcome = await this.#ask(task);
    return "results" in outcome ? [...outcome.results] : [];
  }

  async #ask(task: Task): Promise<Exclude<Outcome, { readonly code: string }>> {
    if (this.#closed) {
      throw new LedgerError("closed", "The database was closed before");
    }
    const thread = this.#thread ??= this.#start();
    const outcome = await this.#send(thread, task);
    if ("code" in outcome) throw new LedgerError(outcome.code, outcome.message);
    return outcome;
  }

  #send(thread: Thread, task: Task): Promise<Outcome> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      thread.post({ id, ...task });
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
    this.#opened = this.#send(thread, { task: "open", options });
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
