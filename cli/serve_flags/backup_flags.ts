import { resolve } from "node:path";
import type { Ledger } from "../../ledger/mod.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import type { BackupPlan } from "../../server/ledger_file/ledger_lock.ts";
import { RegularBackups } from "../../server/ledger_file/regular_backups.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import type { ServiceMetrics } from "../../server/monitoring/metrics.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { type FlagsOf, SETTINGS } from "../../core/settings/settings.ts";

/** Flags for regular backups, as commander hands them over. */
export type BackupFlags = FlagsOf<"backupTo" | "every" | "keep">;

const { every: EVERY, keep: KEEP } = SETTINGS;

/** Where the flags have backups made, and how often. */
export function backupPlan(
  { backupTo, every = EVERY.fallback }: BackupFlags,
): BackupPlan | undefined {
  return backupTo === undefined
    ? undefined
    : { directory: resolve(backupTo), everyMs: every };
}

/** What is backed up, and where that is logged. */
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
  if (backupTo === undefined) return undefined;
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
      everyMs: every ?? EVERY.fallback,
      keep: keep ?? KEEP.fallback,
    });
}
