/**
 * What went wrong with the ledger's database.
 *
 * - `not_a_database`: the file is something else.
 * - `not_a_ledger`: a database that another program made.
 * - `other_schema`: written by a version of this package with other tables.
 * - `wrong_environment`: stamped with another environment.
 * - `cannot_open`: the path or address cannot be opened.
 * - `unauthorised`: the server refused the token.
 * - `unreachable`: no answer; a write may or may not have been committed.
 * - `read_only`: the file or the server takes no writes.
 * - `busy`: another writer held the lock for too long.
 * - `full`: the disk or the quota is full.
 * - `corrupt`: the file is damaged.
 * - `replaced`: the file was removed or replaced while it was in use; what was
 *   written is not durable, and nothing more is written until a restart.
 * - `conflict`: another process changed first what the batch expects; nothing
 *   was written.
 * - `constraint`: the database refused the rows; nothing was written.
 * - `overloaded`: too much is waiting to be written; nothing was written.
 * - `closed`: the ledger was closed before.
 * - `crashed`: the database thread ended; a write may have been committed.
 * - `failed`: anything else; the message says what.
 */
export type LedgerErrorCode =
  | "not_a_database"
  | "not_a_ledger"
  | "other_schema"
  | "wrong_environment"
  | "cannot_open"
  | "unauthorised"
  | "unreachable"
  | "read_only"
  | "busy"
  | "full"
  | "corrupt"
  | "replaced"
  | "conflict"
  | "constraint"
  | "overloaded"
  | "closed"
  | "crashed"
  | "failed";

/** The database of a ledger failed. Messages never hold a token. */
export class LedgerError extends Error {
  /** Always `LedgerError`. */
  override readonly name = "LedgerError";
  /** What went wrong. */
  readonly code: LedgerErrorCode;

  /** An error of the database. */
  constructor(
    code: LedgerErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
  }
}

/** What a `closed` one says. */
export const CLOSED = "The database was closed before";
