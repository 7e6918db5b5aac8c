import { type Command, Option } from "commander";
import { defined } from "../../core/guards.ts";
import { ExpectationError } from "../../ledger/mod.ts";
import { EXPECT } from "../../resources/operations/expectation_operations.ts";
import { paramsOf } from "../../resources/operations/operation.ts";
import { optionsOf } from "./operation_options.ts";
import {
  TERM_NAMES,
  TERMS,
  type TermsJson,
} from "../../resources/operations/terms.ts";
import { lower } from "../../resources/views/text.ts";
import { CommandError, UsageError } from "../../settings/errors.ts";
import { lengthOfTime } from "../../settings/values.ts";

/** Flags by the names that the parser gives them. */
export type TermFlags = Readonly<Record<string, unknown>>;

/**
 * Adds the flags of what an order is compared with.
 *
 * @param prefix What the names of the flags begin with. @default ""
 * @param about What each is for. @default ""
 */
export function termOptions(
  command: Command,
  prefix = "",
  about = "",
): Command {
  for (const name of TERM_NAMES) {
    const { flag, means } = TERMS[name];
    command.addOption(
      new Option(`--${prefix}${flag}`, `${about}${lower(means)}`),
    );
  }
  return command;
}

/** Adds the flag for how long what is recorded is valid. */
export function validForOption(command: Command, means: string): Command {
  return command.option(
    "--valid-for <time>",
    `${means}, for example 12h (default: 7d)`,
    lengthOfTime("--valid-for"),
  );
}

/**
 * What an order is compared with by the flags.
 *
 * @param flags The flags.
 * @param prefix What their names begin with. @default ""
 * @returns Undefined where none was given.
 */
export function termsOf(
  flags: TermFlags,
  prefix = "",
): TermsJson | undefined {
  const terms = defined(Object.fromEntries(
    TERM_NAMES.map((name) => {
      const flag = new Option(`--${prefix}${TERMS[name].flag}`);
      const given = flags[flag.attributeName()];
      return [name, typeof given === "string" ? given : undefined];
    }),
  ));
  return Object.keys(terms).length === 0 ? undefined : terms;
}

/**
 * What could not be recorded, in the words of the command line.
 *
 * @param prefix What the names of the flags of stated terms begin with.
 * @throws {UsageError} When flags are wrong.
 * @throws {CommandError} When the click id is still valid for another reference.
 */
export function refusedExpectation(prefix = ""): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ExpectationError)) throw error;
    const issues = error.issues.map(({ field, message }) =>
      `${flagOf(field, prefix)} ${message}`
    ).join("; ");
    throw error.code === "invalid"
      ? new UsageError(`Wrong ${issues}`, { cause: error })
      : new CommandError(`Not recorded: ${issues}`, "in_use");
  };
}

/**
 * The flag of a field that the ledger names, in its own or the service's words:
 * its parameter says it.
 */
function flagOf(field: string, prefix: string): string {
  const [, stated, name = field] = /^(expected\.)?(.*)$/.exec(field) ?? [];
  const camel = name.replaceAll(
    /_([a-z])/g,
    (_, letter) => letter.toUpperCase(),
  );
  const param = paramsOf(EXPECT)[camel];
  if (param === undefined) return field;
  const [option] = optionsOf(camel, param);
  return `--${stated === undefined ? "" : prefix}${option?.name() ?? camel}`;
}
