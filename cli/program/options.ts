import { type Command, Option } from "commander";
import { CONTRADICTED_AFTER_MS } from "../../ledger/internals.ts";
import { type ConfigFlags, DEFAULT_DATABASE_URL } from "./config.ts";
import { isCalendarDate } from "../../core/time/calendar_date.ts";
import { UsageError } from "./exit_codes.ts";

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
 * Reads a whole number from a flag.
 *
 * @throws {UsageError} When it is none, or out of range.
 */
export function wholeNumber(
  flag: string,
  min: number,
  max: number,
): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    throw new UsageError(
      `Wrong ${flag}: "${value}" is not a whole number from ${min} to ${max}`,
    );
  };
}

/**
 * Reads a length of time such as `30m`, `6h` or `1d`, from a minute to 30 days.
 *
 * @returns Milliseconds.
 * @throws {UsageError} When it is none.
 */
export function lengthOfTime(flag: string): (value: string) => number {
  return (value) => {
    const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(value) ?? [];
    const ms = Number(count) * (UNITS_MS[unit] ?? NaN);
    if (ms >= 60_000 && ms <= 30 * DAY_MS) return ms;
    throw new UsageError(
      `Wrong ${flag}: "${value}" is not a length of time from 1m to 30d; ` +
        "write minutes, hours or days like 30m, 6h or 1d",
    );
  };
}

/** How times are written in help texts. */
export const TIME_FORMAT = "2026-11-20 or 2026-11-20T14:30:00Z";

/**
 * Reads a moment: `2026-11-20`, its first moment in UTC, or ISO 8601 with a
 * zone. A time without a zone is refused, because people mean different ones.
 *
 * @returns UTC ISO 8601 with milliseconds.
 * @throws {UsageError} When it is none.
 */
export function moment(flag: string): (value: string) => string {
  return (value) => new Date(readTime(flag, value)).toISOString();
}

/**
 * Reads the end of a window: a moment, or a day that is to be in it whole.
 *
 * @returns UTC ISO 8601 with milliseconds; for a day, the start of the next.
 * @throws {UsageError} When it is none.
 */
export function windowEnd(flag: string): (value: string) => string {
  return (value) =>
    new Date(readTime(flag, value) + (DAY.test(value) ? DAY_MS : 0))
      .toISOString();
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

/**
 * Refuses a window that begins in the future: nothing was created in it, which
 * would look like agreement.
 *
 * @throws {UsageError} When `--from` is later than now.
 */
export function refuseFuture(from: string | undefined, nowMs: number): void {
  if (from === undefined || Date.parse(from) <= nowMs) return;
  throw new UsageError(
    `Wrong --from: ${from} is later than now, ${
      new Date(nowMs).toISOString()
    }; name a time that has passed`,
  );
}

/** A moment as a number, ms since the epoch; undefined where none was given. */
export function epochMs(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};
const ZONED =
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

function readTime(flag: string, value: string): number {
  const time = DAY.test(value) || ZONED.test(value) ? Date.parse(value) : NaN;
  if (!Number.isNaN(time) && isCalendarDate(value.slice(0, 10))) return time;
  throw new UsageError(
    `Wrong ${flag}: "${value}" is not a time; write a day (2026-11-20, in UTC) ` +
      "or a time with its zone (2026-11-20T14:30:00Z)",
  );
}
