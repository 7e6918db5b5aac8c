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

/** A command that could not do its work: exit code 1, one line, no stack. */
export class CommandError extends Error {
  /** Literal name of the class. */
  override readonly name = "CommandError";
}
