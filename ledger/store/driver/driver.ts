/** A value SQLite can hold. */
export type SqlValue = null | string | number | bigint | Uint8Array;

/** One statement with its positional arguments. */
export interface Statement {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: readonly SqlValue[];
  /**
   * Set when the statement checks that a row is still as it was read. If it is
   * not, the batch fails with `conflict`. See
   * `expectRow`.
   */
  readonly expects?: true;
}

/** What one statement answered. */
export interface ResultSet {
  /** Column names. */
  readonly columns: readonly string[];
  /** Rows, each an array in the order of `columns`. */
  readonly rows: readonly (readonly SqlValue[])[];
  /** Rows inserted, updated or deleted, by a statement without `RETURNING`. */
  readonly rowsAffected: number;
}

/**
 * What the ledger needs from a database: run statements as one transaction.
 *
 * Integers are passed and returned as numbers. After an error other than a
 * constraint, the driver reconnects before its next batch. A read batch must
 * not write. On a replica it may see an earlier state; a write batch never
 * does.
 */
export interface Driver {
  /** Where the database lives. */
  readonly location: "file" | "memory" | "remote";
  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} With a literal `code`; see `ledger/store/driver/errors.ts`.
   */
  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]>;
  /**
   * Copies the live database into a new file; absent on remote databases.
   *
   * @throws {LedgerError} When the file exists or cannot be written.
   */
  copyTo?(path: string): Promise<void>;
  /**
   * Writes the database anew, without what was deleted, and empties its log;
   * absent on remote databases.
   *
   * @throws {LedgerError} `busy` while others hold it.
   */
  vacuum?(): Promise<void>;
  /**
   * Empties the log of the database, which holds what was written before;
   * absent on remote databases.
   *
   * @returns False while others read it.
   */
  emptyLog?(): Promise<boolean>;
  /**
   * Does work of the fold where the database is, by its name; absent where that
   * is the caller's thread.
   */
  work?(name: string, options: unknown): Promise<unknown>;
  /** Releases the database; later batches throw. */
  close(): Promise<void>;
}

/**
 * Whether a statement surely cannot write: a `SELECT`, or one after common table
 * expressions. It goes by words, and in doubt says no: a `WITH` that names a
 * change anywhere, even in a text, counts as writing.
 */
export function isQuery({ sql }: Statement): boolean {
  return /^\s*SELECT\b/i.test(sql) ||
    /^\s*WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|REPLACE)\b)/is.test(sql);
}
