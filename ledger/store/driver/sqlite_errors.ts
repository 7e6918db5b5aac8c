import { messageOf } from "../../../core/guards.ts";
import type { Statement } from "./driver.ts";
import { LedgerError, type LedgerErrorCode } from "./errors.ts";

const codes: readonly (readonly [prefix: string, code: LedgerErrorCode])[] = [
  ["SQLITE_CONSTRAINT", "constraint"],
  ["SQLITE_MISMATCH", "constraint"],
  ["SQLITE_TOOBIG", "constraint"],
  ["SQLITE_BUSY", "busy"],
  ["SQLITE_LOCKED", "busy"],
  ["SQLITE_READONLY", "read_only"],
  ["SQLITE_FULL", "full"],
  ["SQLITE_NOTADB", "not_a_database"],
  ["SQLITE_CORRUPT", "corrupt"],
  ["SQLITE_CANTOPEN", "cannot_open"],
  ["SQLITE_PERM", "cannot_open"],
  ["SQLITE_AUTH", "unauthorised"],
];

const advice: Partial<Record<LedgerErrorCode, string>> = {
  conflict: "Another process changed first what the batch expects",
  constraint: "The database refused the rows",
  busy: "Another process holds the database's write lock",
  read_only: "The database takes no writes; check the permissions of the " +
    "file and of its folder",
  full: "The disk or the quota is full; nothing was written",
  not_a_database: "The file is not a database; choose another path",
  corrupt: "The file is damaged; restore a backup",
  cannot_open: "The database cannot be opened; check that its folder exists " +
    "and that it may be read and written",
  unauthorised: "The database rejects the token; check that it belongs to " +
    "this database and has not expired",
  unreachable: "The database cannot be reached; check its address and " +
    "whether its server runs",
};

/** SQLite has no code of its own for a quota or a file size limit. */
const ioAdvice =
  "the disk may be full, over a quota or at a file size limit, " +
  "or broken: ";

/** The ledger's code for a code of SQLite, such as `SQLITE_BUSY_SNAPSHOT`. */
export function codeOfSqlite(sqliteCode: string): LedgerErrorCode {
  return codes.find(([prefix]) => sqliteCode.startsWith(prefix))?.[1] ??
    "failed";
}

/**
 * Turns what a driver threw into an error of ours, which says the problem, the place
 * and what SQLite said. Where the error's own code does not tell, `code` does.
 */
export function fromSqlite(
  error: unknown,
  where: string,
  statement?: Statement,
  code: LedgerErrorCode = codeOfError(error),
): LedgerError {
  if (error instanceof LedgerError) return error;
  // A refused expectation is a conflict, a refused row is not.
  const said = code === "constraint" && statement?.expects ? "conflict" : code;
  const what = advice[said] ?? "The database failed";
  const io = sqliteCode(error).startsWith("SQLITE_IOERR") ? ioAdvice : "";
  const sql = said === "failed" && statement !== undefined
    ? ` in ${statement.sql.replace(/\s+/g, " ").slice(0, 120)}`
    : "";
  const message = `${what}: ${where}: ${io}${messageOf(error)}${sql}`;
  return new LedgerError(said, message, { cause: error });
}

function sqliteCode(error: unknown): string {
  return String(Object(error).code ?? "");
}

/** By the message where the error's own code is too general. */
function codeOfError(error: unknown): LedgerErrorCode {
  const code = codeOfSqlite(sqliteCode(error));
  if (code !== "failed") return code;
  const message = messageOf(error);
  if (/unable to open|ConnectionFailed/i.test(message)) return "cannot_open";
  return /cannot store \w+ value/.test(message) ? "constraint" : "failed";
}
