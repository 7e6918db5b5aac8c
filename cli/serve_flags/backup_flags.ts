import { resolve } from "node:path";
import type { Command } from "commander";
import type { Ledger } from "../../ledger/mod.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import type { BackupPlan } from "../../server/ledger_file/ledger_lock.ts";
import { RegularBackups } from "../../server/ledger_file/regular_backups.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import type { ServiceMetrics } from "../../server/monitoring/metrics.ts";
import type { Config } from "../../settings/config.ts";
import { UsageError } from "../../settings/errors.ts";
import { lengthOfTime, wholeNumber } from "../../settings/values.ts";

/** Flags for regular backups, as commander hands them over. */
export interface BackupFlags {
  readonly backupTo?: string;
  readonly every?: number;
  readonly keep?: number;
}

/** Time between two backups unless said, ms. */
const EVERY_MS = 6 * 3_600_000;
/** Backups in the folder unless said: a week of them. */
const KEEP = 28;

/** Adds the flags for regular backups. */
export function backupOptions(command: Command): Command {
  return command.option(
    "--backup-to <dir>",
    "copy the ledger into this folder regularly, and verify each copy",
  )
    .option(
      "--every <time>",
      "how often, for example 30m, 6h or 1d (default: 6h)",
      lengthOfTime("--every"),
    )
    .option(
      "--keep <n>",
      `backups to keep (default: ${KEEP})`,
      wholeNumber("--keep", 1, 10_000),
    );
}

/** Where the flags have backups made, and how often. */
export function backupPlan(
  { backupTo, every = EVERY_MS }: BackupFlags,
): BackupPlan | undefined {
  return backupTo === undefined
    ? undefined
    : { directory: resolve(backupTo), everyMs: every };
}

/** What is to be backed up, and where that is told. */
export interface BackedUp {
  /** Opens the ledger once more. */
  readonly open: () => Promise<Ledger>;
  readonly log: Log;
  readonly metrics: ServiceMetrics;
  readonly now: () => number;
}

/**
 * The regular backups that the flags ask for; undefined when they ask for none.
 *
 * @throws {UsageError} When they cannot be made.
 */
export function regularBackups(
  { backupTo, every, keep }: BackupFlags,
  { databaseUrl }: Pick<Config, "databaseUrl">,
): ((ledger: BackedUp) => RegularBackups) | undefined {
  if (backupTo === undefined) {
    if (every === undefined && keep === undefined) return undefined;
    throw new UsageError(
      `Wrong ${every === undefined ? "--keep" : "--every"}: ` +
        "there is nothing to back up to; add --backup-to",
    );
  }
  const database = databaseFile(databaseUrl);
  if (database === null) {
    throw new UsageError(
      "Wrong --backup-to: the ledger is not in a file of this machine; use " +
        "the backup of its server, or `ledger export`",
    );
  }
  return (ledger) =>
    new RegularBackups({
      ...ledger,
      database,
      directory: backupTo.replace(/(?<=.)\/+$/, ""),
      everyMs: every ?? EVERY_MS,
      keep: keep ?? KEEP,
    });
}
