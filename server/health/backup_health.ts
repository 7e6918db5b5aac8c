import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../core/guards.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { LIMITS } from "../../resources/health/limits.ts";
import { printable } from "../../core/printable.ts";
import { span } from "../../resources/wording/phrases.ts";
import type { Config } from "../../core/settings/config.ts";
import { type Backup, backupsAmong } from "../ledger_file/copy_whole.ts";
import { type BackupPlan, serving } from "../ledger_file/ledger_lock.ts";

/** What to look at. */
export interface BackupLookOptions {
  /** Settings, of which the ledger's file counts. */
  readonly config: Pick<Config, "databaseUrl">;
  /** Folder of the backups, where it was named. */
  readonly directory?: string | undefined;
  /** What this process itself makes. @default {as a running `serve` says} */
  readonly plan?: BackupPlan | undefined;
  /** The time, ms since the epoch. */
  readonly nowMs: number;
}

/**
 * How old the newest backup is: in the folder that was named, else in that of
 * the running `serve`, else in those beside the ledger.
 */
export async function lookAtBackups(
  { config, directory, plan, nowMs }: BackupLookOptions,
): Promise<readonly Finding[]> {
  const database = databaseFile(config.databaseUrl);
  if (database === null) return [found("backups_elsewhere")];
  try {
    const planned = directory !== undefined
      ? { directory }
      : plan ?? serving(database)?.backups;
    const beside = planned === undefined ? await findBeside(database) : null;
    const place = planned ?? (beside === null ? null : { directory: beside });
    return [
      place === null
        ? found("backups_unknown")
        : await lookIn(place, database, nowMs),
    ];
  } catch (error) {
    return [found("backups_unreadable", { more: messageOf(error) })];
  }
}

async function lookIn(
  { directory, everyMs }: Partial<BackupPlan> & { readonly directory: string },
  database: string,
  nowMs: number,
): Promise<Finding> {
  const [newest] = await backupsIn(directory);
  const where = printable(directory);
  if (newest === undefined) return found("backups_none", { more: where });
  const { size } = await stat(join(directory, newest.name));
  const ageMs = nowMs - newest.at;
  const made = ageMs < 0
    ? `it is dated ${span(ageMs)} ahead of this clock`
    : `it was made ${span(ageMs)} ago`;
  const onDisk = await onSameDisk(directory, database);
  const due = everyMs === undefined
    ? ""
    : `; one is due every ${span(everyMs)}`;
  const more = `in ${where}, ${made}${onDisk ? ", on the ledger's disk" : ""}${
    size === 0 ? ", and is empty" : due
  }`;
  const details = { more, facts: { ageMs, size } };
  if (size === 0 || ageMs < 0) return found("backup_doubtful", details);
  const oldMs = LIMITS.backupsMissed * (everyMs ?? LIMITS.backupEveryMs);
  return ageMs <= oldMs ? found("backups_made", details) : found("backup_old", {
    ...details,
    since: new Date(newest.at + oldMs).toISOString(),
  });
}

async function backupsIn(directory: string): Promise<readonly Backup[]> {
  try {
    return backupsAmong(await readdir(directory));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return [];
    }
    throw error;
  }
}

/** The folder beside the ledger that has the newest backup; null without any. */
async function findBeside(database: string): Promise<string | null> {
  const beside = dirname(database);
  const entries = await readdir(beside, { withFileTypes: true })
    .catch(() => []);
  let found: { readonly directory: string; readonly at: number } | null = null;
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const directory = join(beside, entry.name);
    // A folder of somebody else's may be closed to us.
    const [newest] = await backupsIn(directory).catch(() => []);
    if (newest === undefined || newest.at <= (found?.at ?? 0)) continue;
    found = { directory, at: newest.at };
  }
  return found?.directory ?? null;
}

/** Whether one disk holds both; false where the ledger's file is gone. */
async function onSameDisk(
  directory: string,
  database: string,
): Promise<boolean> {
  const ours = await stat(database).catch(() => null);
  return ours !== null && ours.dev === (await stat(directory)).dev;
}
