/** Exit codes of the command line; part of its interface. */
export const EXIT: {
  /** All went well. */
  readonly fine: 0;
  /** Something failed. */
  readonly failed: 1;
  /** The command was not understood, or a setting is missing. */
  readonly usage: 2;
  /** It worked, and found a disagreement. */
  readonly disagreement: 3;
} = { fine: 0, failed: 1, usage: 2, disagreement: 3 };

/** A command that was not understood, or a setting that is missing: code 2. */
export class UsageError extends Error {
  /** Literal name of the class. */
  override readonly name = "UsageError";
}

/**
 * Why a command could not do its work, as far as scripts need to distinguish.
 *
 * - `not_found`: the ledger has nothing of that name.
 * - `in_use`: another process is at work on the same.
 * - `stopped`: Ctrl-C or SIGTERM ended it before its end.
 * - `failed`: anything else.
 */
export type CommandErrorCode = "not_found" | "in_use" | "stopped" | "failed";

/** A command that could not do its work: exit code 1, one line, no stack. */
export class CommandError extends Error {
  /** Literal name of the class. */
  override readonly name = "CommandError";
  /** Why, as a code for scripts. */
  readonly code: CommandErrorCode;

  /** Creates the error. */
  constructor(message: string, code: CommandErrorCode = "failed") {
    super(message);
    this.code = code;
  }
}
