import { Connection } from "./connection.ts";
import type { ConnectionOptions } from "./database_url.ts";
import type { Driver, ResultSet, Statement } from "../driver/driver.ts";
import { LedgerError } from "../driver/errors.ts";

/**
 * A local database on the calling thread. Every batch blocks that thread, so
 * an endpoint uses the Worker driver; tests and short commands use this one.
 */
export class FileDriver implements Driver {
  /** Where the database lives. */
  readonly location: "file" | "memory";
  readonly #connection: Connection;
  #closed = false;

  /**
   * Opens nothing yet: the file is opened by the first batch.
   *
   * @param options Path and timeouts.
   */
  constructor(options: ConnectionOptions) {
    this.location = options.path === ":memory:" ? "memory" : "file";
    this.#connection = new Connection(options);
  }

  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} When the database refuses.
   */
  // deno-lint-ignore require-await -- A driver answers with a promise.
  async batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    this.#checkOpen();
    return this.#connection.batch(statements, mode);
  }

  /**
   * Copies the live database into a new file.
   *
   * @throws {LedgerError} When the file exists or cannot be written.
   */
  async copyTo(path: string): Promise<void> {
    this.#checkOpen();
    await this.#connection.copyTo(path);
  }

  /**
   * Writes the database anew, without what was deleted, and empties its log.
   *
   * @throws {LedgerError} `busy` while others hold it.
   */
  // deno-lint-ignore require-await -- A driver answers with a promise.
  async vacuum(): Promise<void> {
    this.#checkOpen();
    this.#connection.vacuum();
  }

  /**
   * Empties the log of the database, which holds what was written before.
   *
   * @returns False while others read it.
   */
  // deno-lint-ignore require-await -- A driver answers with a promise.
  async emptyLog(): Promise<boolean> {
    this.#checkOpen();
    return this.#connection.emptyLog();
  }

  /** Closes the file. */
  // deno-lint-ignore require-await -- A driver answers with a promise.
  async close(): Promise<void> {
    this.#closed = true;
    this.#connection.close();
  }

  #checkOpen(): void {
    if (this.#closed) {
      throw new LedgerError("closed", "The database was closed before");
    }
  }
}
