/** A value SQLite can hold. */
export type SqlValue = null | string | number | bigint | Uint8Array;

/** One statement with its positional arguments. */
export interface Statement {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: readonly SqlValue[];
}

/** What one statement answered. */
export interface ResultSet {
  /** Column names. */
  readonly columns: readonly string[];
  /** Rows, each an array in the order of `columns`. */
  readonly rows: readonly (readonly SqlValue[])[];
  /** Rows inserted, updated or deleted. */
  readonly rowsAffected: number;
}

/**
 * All that the ledger asks of a database: run statements as one transaction.
 *
 * Integers come back as numbers. A driver that met an error other than a
 * constraint reconnects before its next batch.
 */
export interface Driver {
  /** Where the database lives. */
  readonly location: "file" | "memory" | "remote";
  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} With a literal `code`; see `ledger/store/errors.ts`.
   */
  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]>;
  /** Releases the database; later batches throw. */
  close(): Promise<void>;
}
