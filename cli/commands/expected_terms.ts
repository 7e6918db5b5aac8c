import { type Command, Option } from "commander";
import { defined } from "../../core/guards.ts";
import { ExpectationError, type TermsToRecord } from "../../ledger/mod.ts";
import { CommandError, UsageError } from "../../settings/errors.ts";
import { lengthOfTime } from "../../settings/values.ts";

/** What an order is compared with: the flag, its argument, and what it says. */
const TERMS = {
  currency: ["currency", "<code>", "fiat currency"],
  currency_amount: ["currency-amount", "<decimal>", "fiat amount"],
  commodity: ["commodity", "<code>", "asset, for example USDC"],
  network: ["network", "<name>", "network of the asset"],
  commodity_amount: ["commodity-amount", "<decimal>", "asset amount"],
  wallet_address: ["wallet", "<address>", "address the asset goes to"],
  user_id: ["user", "<id>", "user who is to pay"],
} as const satisfies Readonly<
  Record<keyof TermsToRecord, readonly [string, string, string]>
>;

type Term = keyof typeof TERMS;
const NAMES = Object.keys(TERMS) as readonly Term[];

/** Flags by the names that the parser gives them. */
export type TermFlags = Readonly<Record<string, unknown>>;

/**
 * Adds the flags of what an order is compared with, and of how long that is
 * valid.
 *
 * @param command The command.
 * @param prefix What the names of the flags begin with. @default ""
 */
export function termOptions(command: Command, prefix = ""): Command {
  const [about, until] = prefix === ""
    ? ["", "how long it is valid, like 12h; 7d unless said"]
    : [
      "compare the order with this in place of the session's own: ",
      "how long the order may come after it, like 12h; 7d unless said",
    ];
  for (const name of NAMES) {
    const [flag, argument, what] = TERMS[name];
    command.addOption(
      new Option(`--${prefix}${flag} ${argument}`, `${about}${what}`),
    );
  }
  return command.option(
    "--valid-for <time>",
    until,
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
): TermsToRecord | undefined {
  const terms = defined(Object.fromEntries(
    NAMES.map((name) => {
      const [flag] = TERMS[name];
      const given = flags[new Option(`--${prefix}${flag}`).attributeName()];
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

/** The flag of a field that the ledger names, in its own or the service's words. */
function flagOf(field: string, prefix: string): string {
  const [, stated, name = field] = /^(expected\.)?(.*)$/.exec(field) ?? [];
  const stored = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const known = stored in TERMS ? TERMS[stored as Term][0] : OTHERS[stored];
  if (known === undefined) return field;
  return `--${stated === undefined ? "" : prefix}${known}`;
}

/** Flags of fields that an order is not compared with. */
const OTHERS: Readonly<Record<string, string>> = {
  click_id: "click",
  reference: "reference",
  valid_for_ms: "valid-for",
  asked_at: "asked-at",
};
