import { messageOf } from "../../../core/guards.ts";
import type { ConnectionOptions } from "./database_url.ts";
import type { Answer, Outcome, Task } from "./_messages.ts";
import type { Driver, ResultSet, Statement } from "../driver/driver.ts";
import { LedgerError } from "../driver/errors.ts";
import { startThread, type Thread } from "./thread.ts";

// Never called: an import that is spelled out has the thread's module fetched
// with an installed package, so that the thread starts offline too.
void (() => import("./database_thread.ts"));

/** How the database thread is started. */
export interface WorkerDriverOptions extends ConnectionOptions {
  /** Module that the thread runs. @default {the package's own} */
  readonly module?: URL;
}

/**
 * A local database in a thread of its own, so that a lock or a slow disk never
 * blocks the caller's event loop. When the thread crashes, the pending batches
 * fail, and the next batch starts another thread.
 */
export class WorkerDriver implements Driver {
  /** Where the database lives. */
  readonly location: "file" | "memory";
  /** Its thread derives the columns of deliveries. */
  readonly derives = true;
  readonly #options: WorkerDriverOptions;
  #worker: Thread | null = null;
  #opened: Promise<Outcome> = Promise.resolve({ results: [] });
  #pending = new Map<number, (outcome: Outcome) => void>();
  #nextId = 1;
  #closed = false;

  /**
   * Opens nothing yet: the thread starts with the first batch.
   *
   * @param options Path and timeouts.
   */
  constructor(options: WorkerDriverOptions) {
    this.location = options.path === ":memory:" ? "memory" : "file";
    this.#options = options;
  }

  /**
   * Starts the thread, which the first batch does otherwise.
   *
   * @returns Why it cannot run; null when it runs.
   */
  async start(): Promise<string | null> {
    try {
      this.#worker ??= this.#start();
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
    return this.#ask({ task: "batch", statements, mode });
  }

  /**
   * Copies the live database into a new file.
   *
   * @throws {LedgerError} When the file exists or cannot be written.
   */
  async copyTo(path: string): Promise<void> {
    await this.#ask({ task: "copy", path });
  }

  /**
   * Writes the database anew, without what was deleted, and empties its log.
   *
   * @throws {LedgerError} `busy` while others hold it.
   */
  async vacuum(): Promise<void> {
    await this.#ask({ task: "vacuum" });
  }

  /**
   * Empties the log of the database, which holds what was written before.
   *
   * @returns False while others read it.
   */
  async emptyLog(): Promise<boolean> {
    const [result] = await this.#ask({ task: "emptyLog" });
    return result?.rows[0]?.[0] === 1;
  }

  /** Finishes the pending batches, closes the file and ends the thread. */
  async close(): Promise<void> {
    if (this.#closed) return;
    // Terminating the thread alone would keep the file and its locks open.
    if (this.#worker !== null) await this.#ask({ task: "close" });
    this.#closed = true;
    this.#worker?.terminate();
    this.#worker = null;
  }

  async #ask(task: Task): Promise<ResultSet[]> {
    if (this.#closed) {
      throw new LedgerError("closed", "The database was closed before");
    }
    const worker = this.#worker ??= this.#start();
    const outcome = await this.#send(worker, task);
    if ("results" in outcome) return [...outcome.results];
    throw new LedgerError(outcome.code, outcome.message);
  }

  #send(worker: Thread, task: Task): Promise<Outcome> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      worker.post({ id, ...task });
    });
  }

  #start(): Thread {
    const { module, ...options } = this.#options;
    const worker = startThread(
      module ?? new URL("./database_thread.ts", import.meta.url),
      {
        onMessage: (message) => {
          const answer = message as Answer;
          const settle = this.#pending.get(answer.id);
          this.#pending.delete(answer.id);
          settle?.(answer);
        },
        onCrash: (reason) => this.#crashed(worker, reason),
      },
    );
    this.#opened = this.#send(worker, { task: "open", options });
    return worker;
  }

  #crashed(worker: Thread, reason: string): void {
    worker.terminate();
    if (this.#worker === worker) this.#worker = null;
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
