import { messageOf } from "../../../core/guards.ts";
import {
  codeOfSqlite,
  codeOfStatement,
  fromSqlite,
  ledgerError,
} from "../driver/sqlite_errors.ts";
import type { Driver, Statement } from "../driver/driver.ts";
import { LedgerError, type LedgerErrorCode } from "../driver/errors.ts";

/** The fields of the client's errors that are used here. */
interface ClientError {
  readonly code?: unknown;
  readonly statementIndex?: unknown;
  readonly cause?: unknown;
  readonly name?: unknown;
  readonly status?: unknown;
}

/** What a batch ran over, for the message and the code of its error. */
export interface FailedBatch {
  /** The statements, as the client numbered them. */
  readonly statements: readonly Statement[];
  /** Where the database lives. */
  readonly location: Driver["location"];
  /** The same for people. */
  readonly where: string;
}

/** Turns what a client threw into an error of ours. */
export function fromClient(error: unknown, batch: FailedBatch): LedgerError {
  if (error instanceof LedgerError) return error;
  const { statementIndex } = fields(error);
  const statement = typeof statementIndex === "number"
    ? batch.statements[statementIndex]
    : undefined;
  // The client puts its codes before the message, once for every layer.
  const { cause } = fields(error);
  const inner = cause instanceof Error ? cause : error;
  if (batch.location !== "remote") {
    return fromSqlite(inner, batch.where, statement);
  }
  const message = messageOf(inner);
  return ledgerError(
    codeOfStatement(codeOf(error, inner), statement),
    batch.where,
    { message, cause: error },
  );
}

function codeOf(error: unknown, inner: unknown): LedgerErrorCode {
  const { status, name } = fields(inner);
  if (status === 401 || status === 403) return "unauthorised";
  const code = String(fields(error).code ?? "");
  if (code === "TRANSACTION_CLOSED") return "failed"; // A skipped statement.
  // Anything but the server's answer to a statement leaves open what happened.
  if (name !== "ResponseError") return "unreachable";
  if (code.startsWith("AUTH_")) return "unauthorised";
  if (code === "PROXY_ERROR") return codeOfProxied(messageOf(inner));
  return codeOfSqlite(code);
}

/** A replica passes on the errors of its primary without their codes. */
function codeOfProxied(message: string): LedgerErrorCode {
  if (/constraint failed|cannot store|datatype mismatch/.test(message)) {
    return "constraint";
  }
  if (/locked|busy/i.test(message)) return "busy";
  return /no such|syntax error/.test(message) ? "failed" : "unreachable";
}

function fields(error: unknown): ClientError {
  return typeof error === "object" && error !== null ? error : {};
}
