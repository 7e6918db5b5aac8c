import { ValidationError } from "../../client/errors.ts";
import { ExpectationError } from "../../ledger/mod.ts";
import {
  givenAs,
  type Operation,
  paramsOf,
} from "../../resources/operations/operation.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";

/**
 * What client and ledger refused of an operation, in the words of its command.
 */
export function refusedBy(operation: Operation): (error: unknown) => never {
  return (error) => {
    if (error instanceof ValidationError) {
      throw new UsageError(
        // Options of the client; here they are flags.
        error.message.replaceAll(
          /\b(\w+): true\b/g,
          (text, name) => flagOf(operation, name) ?? text,
        ),
        { cause: error },
      );
    }
    if (!(error instanceof ExpectationError)) throw error;
    const issues = error.issues.map(({ field, message }) =>
      `${fieldFlag(operation, field)} ${message}`
    ).join("; ");
    throw error.code === "invalid"
      ? new UsageError(`Wrong ${issues}`, { cause: error })
      : new CommandError(`Not recorded: ${issues}`, "in_use");
  };
}

/** The flag of a field that the ledger names, in its or the service's words. */
function fieldFlag(operation: Operation, field: string): string {
  // What is stated beside a session has flags of its own.
  const path = field.replace(/^expected\./, "expect_");
  const name = path.replaceAll(
    /_([a-z])/g,
    (_, letter) => letter.toUpperCase(),
  );
  const stated = name.replace(
    /^expect([a-z])/,
    (_, letter) => `expect${letter.toUpperCase()}`,
  );
  return flagOf(operation, stated) ?? field;
}

function flagOf(operation: Operation, name: string): string | null {
  const param = paramsOf(operation)[name];
  return param === undefined ? null : givenAs([name, param]);
}
