import { ReleaseError } from "../../ledger/mod.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";

/** A release by hand that was refused. */
export function refusedRecord(reference: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ReleaseError)) throw error;
    const { code, message } = error;
    const cause = { cause: error };
    if (code === "invalid") throw new UsageError(message, cause);
    if (code === "reference_missing") {
      throw new UsageError(`${message} with ${reference}`, cause);
    }
    throw new CommandError(
      message,
      code === "unknown_order" ? "not_found" : "failed",
    );
  };
}
