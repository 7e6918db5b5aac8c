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

/** Turns what the local driver threw into an error of ours. */
export function fromSqlite(
  error: unknown,
  where: string,
  statement?: Statement,
): LedgerError {
  if (error instanceof LedgerError) return error;
  const message = messageOf(error);
  const code = String(Object(error).code ?? "");
  const known = codeOfSqlite(code);
  const said = known === "failed" ? codeInText(message) : known;
  return ledgerError(codeOfStatement(said, statement), where, {
    message: code.startsWith("SQLITE_IOERR") ? ioAdvice + message : message,
    sql: statement?.sql,
    cause: error,
  });
}

/** A refused expectation is a conflict, a refused row is not. */
export function codeOfStatement(
  code: LedgerErrorCode,
  statement: Statement | undefined,
): LedgerErrorCode {
  return code === "constraint" && statement?.expects ? "conflict" : code;
}

/** Makes an error with a message: the problem, the place, SQLite's message. */
export function ledgerError(
  code: LedgerErrorCode,
  where: string,
  said: {
    readonly message: string;
    readonly sql?: string | undefined;
    readonly cause?: unknown;
  },
): LedgerError {
  const statement = code === "failed" && said.sql !== undefined
    ? ` in ${said.sql.replace(/\s+/g, " ").slice(0, 120)}`
    : "";
  const what = advice[code] ?? "The database failed";
  const message = `${what}: ${where}: ${said.message}${statement}`;
  return new LedgerError(code, message, { cause: said.cause });
}

/** The code by the message, for errors whose own code is too general. */
function codeInText(message: string): LedgerErrorCode {
  if (/unable to open|ConnectionFailed/i.test(message)) return "cannot_open";
  if (/cannot store \w+ value/.test(message)) return "constraint";
  return "failed";
}
