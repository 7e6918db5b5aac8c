import type { Command } from "commander";
import { type ConfigFlags, DEFAULT_DATABASE_URL } from "./config.ts";
import { UsageError } from "./exit_codes.ts";

/** Adds the flags of every command that opens the ledger. */
export function ledgerOptions(command: Command): Command {
  return command
    .option(
      "--database-url <url>",
      `ledger database (RAMPKIT_DATABASE_URL; default ${DEFAULT_DATABASE_URL})`,
    )
    .option(
      "--environment <name>",
      "production or sandbox (RAMPKIT_ENVIRONMENT; default: the ledger's own)",
    );
}

/** Adds the flags of every command that asks the service. */
export function serviceOptions(command: Command): Command {
  return command.option(
    "--base-url <url>",
    "address of the partner API instead of the environment's (RAMPKIT_BASE_URL)",
  );
}

/** Adds `--json`. */
export function jsonOption(command: Command, what: string): Command {
  return command.option("--json", what);
}

/** Adds `--rate`: requests a second to the service, 4 unless given. */
export function rateOption(command: Command): Command {
  return command.option(
    "--rate <n>",
    "requests a second",
    wholeNumber("--rate", 1, 1000),
    4,
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
 * Reads a moment: `2026-11-20`, or ISO 8601 with a zone. A time without a zone
 * is refused, because people mean different ones.
 *
 * @returns UTC ISO 8601 with milliseconds.
 * @throws {UsageError} When it is none.
 */
export function moment(flag: string): (value: string) => string {
  return (value) => {
    const day = /^\d{4}-\d{2}-\d{2}$/.test(value);
    const zoned =
      /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/
        .test(value);
    const time = day || zoned ? Date.parse(value) : NaN;
    if (!Number.isNaN(time)) return new Date(time).toISOString();
    throw new UsageError(
      `Wrong ${flag}: "${value}" is no time; write 2026-11-20 (midnight UTC) ` +
        "or 2026-11-20T14:30:00Z",
    );
  };
}
