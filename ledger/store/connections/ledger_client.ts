/**
 * What the ledger needs of a client of `@libsql/client`. Such a client fits as
 * it is; this package does not import it for its types.
 *
 * The ledger speaks to `file:`, `libsql:`, `https:` and `http:` databases; a
 * client over WebSockets is refused. Give the ledger a client of its own: after
 * an error in a file it calls `reconnect()`, which ends what else that client
 * is doing.
 */
export interface LedgerClient {
  /** `file` or `http`. */
  readonly protocol: string;
  /** Whether it was closed. */
  readonly closed: boolean;
  /** Runs the statements in one transaction. */
  batch(
    statements: ClientStatement[],
    mode: "read" | "write",
  ): Promise<ClientResult[]>;
  /** Drops its connections and opens new ones. */
  reconnect(): void | Promise<void>;
  /** Ends it; the ledger leaves that to the caller who made the client. */
  close(): void;
}

/** A statement as a {@linkcode LedgerClient} takes it. */
export interface ClientStatement {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: (null | string | number | bigint | Uint8Array)[];
}

/** What a {@linkcode LedgerClient} answers to one statement. */
export interface ClientResult {
  /** Column names. */
  readonly columns: string[];
  /** Rows; each has its values by index. */
  readonly rows: ArrayLike<unknown>[];
  /** Rows inserted, updated or deleted. */
  readonly rowsAffected: number;
}
