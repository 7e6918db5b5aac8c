import { type Command, Option } from "commander";
import { CONTRADICTED_AFTER_MS } from "../../sync/for_resources.ts";
import type { ConfigFlags } from "../../settings/config.ts";
import { DEFAULT_DATABASE_URL } from "../../settings/variables.ts";
import { wholeNumber } from "../../settings/values.ts";
import { UsageError } from "../../settings/errors.ts";

/** Heading of the flags that stand for a variable, below a command's own. */
export const SETTINGS = "Settings, each also a variable:";

/** Adds a flag that stands for a variable. */
export function settingOption(
  command: Command,
  flags: string,
  description: string,
): Command {
  return command.addOption(
    new Option(flags, description).helpGroup(SETTINGS),
  );
}

/** Adds the flags of every command that opens the ledger. */
export function ledgerOptions(command: Command): Command {
  settingOption(
    command,
    "--database-url <url>",
    `ledger (RAMPKIT_DATABASE_URL; default: ${DEFAULT_DATABASE_URL})`,
  );
  return settingOption(
    command,
    "--environment <name>",
    "production or sandbox (RAMPKIT_ENVIRONMENT; default: the ledger's own)",
  );
}

/** Adds the flags of every command that asks the service. */
export function serviceOptions(command: Command): Command {
  return settingOption(
    command,
    "--base-url <url>",
    "partner API (RAMPKIT_BASE_URL; default: the environment's)",
  );
}

/** Adds `--json`. */
export function jsonOption(
  command: Command,
  what: "one object" | "one object a line",
): Command {
  return command.option("--json", `JSON instead of text: ${what}`);
}

/** Adds `--output`: a file that gets its name only when it is whole. */
export function outputOption(command: Command): Command {
  return command.option(
    "--output <file>",
    "write to this file, which appears only when it is complete",
  );
}

/** Adds `--bom`: what makes some spreadsheets read CSV as UTF-8. */
export function bomOption(command: Command): Command {
  return command.addOption(
    new Option(
      "--bom",
      "begin the file with a byte-order mark, for spreadsheets that need it; " +
        "with --output",
    ),
  ).hook("preAction", (_, action) => {
    const { bom, output } = action.opts<{ bom?: true; output?: string }>();
    if (bom && output === undefined) {
      throw new UsageError("--bom is written to a file: add --output FILE");
    }
  });
}

/** Adds `--limit` to a list. People see the newest rows. A script gets all of
 * them, because it would take a part for the whole. */
export function limitOption(command: Command, what: string): Command {
  return command.option(
    "--limit <n>",
    `at most this many ${what}, 0 for all (default: ${TABLE_LIMIT}; with ` +
      "--json: all)",
    wholeNumber("--limit", 0, 1e9),
  );
}

/** How many rows a list shows; 0 is all. */
export function limitOf(
  { limit, json }: { readonly limit?: number; readonly json?: boolean },
): number {
  return limit ?? (json === true ? 0 : TABLE_LIMIT);
}

const TABLE_LIMIT = 50;

/** Adds `--rate`: requests a second to the service, 4 unless given. */
export function rateOption(command: Command): Command {
  return command.option(
    "--rate <n>",
    "requests a second",
    wholeNumber("--rate", 1, 1000),
    4,
  );
}

/** Adds the flag for how long the service may disagree with a claim. */
export function contradictedAfterOption(command: Command): Command {
  return command.option(
    "--contradicted-after <minutes>",
    "how long the service may disagree with a webhook's claim before it no " +
      "longer counts",
    wholeNumber("--contradicted-after", 1, 1440),
    CONTRADICTED_AFTER_MS / 60_000,
  );
}

/** Flags shared by commands, as commander hands them over. */
export interface SharedFlags extends ConfigFlags {
  readonly json?: boolean;
}

/**
 * Refuses a window of `--from` and `--to` that holds no moment: what finds
 * nothing in it would look like an answer.
 *
 * @throws {UsageError} From the command, when `--to` is not after `--from`.
 */
export function orderedWindow(command: Command): Command {
  return command.hook("preAction", (_, action) => {
    const { from, to } = action.opts<{ from?: string; to?: string }>();
    if (from === undefined || to === undefined || from < to) return;
    throw new UsageError(
      `Wrong --to: the window would end at ${to}, and begins at ${from} ` +
        "(--from); give a --to that is later",
    );
  });
}
