import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../core/guards.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import {
  type Backup,
  backupsAmong,
} from "../../server/ledger_file/backup_names.ts";
import {
  type BackupPlan,
  serving,
} from "../../server/ledger_file/ledger_lock.ts";
import type { Config } from "../../settings/config.ts";
import { printable } from "../../resources/views/printable.ts";
import { span } from "../../resources/wording/span.ts";
import { type Check, check } from "../../resources/health/check.ts";

/** Where nobody has said how often backups are made, ms. */
const OFTEN_ENOUGH_MS = 12 * 3_600_000;

const NAME = "Backups";
const MAKE = "rampkit serve --backup-to DIR makes them; for a folder that is " +
  "elsewhere, pass rampkit doctor --backup-to DIR";

/** What to look at. */
export interface BackupCheckOptions {
  /** Settings, of which the ledger's file counts. */
  readonly config: Pick<Config, "databaseUrl">;
  /** Folder of the backups, where it was named. */
  readonly directory: string | undefined;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/**
 * Looks at how old the newest backup is: in the folder that was named, else in
 * that of the running `serve`, else in those beside the ledger.
 */
export async function backupCheck(
  { config, directory, now }: BackupCheckOptions,
): Promise<Check> {
  const database = databaseFile(config.databaseUrl);
  if (database === null) {
    return check(NAME, "skip", "The ledger's server looks after them");
  }
  const planned = (await serving(database))?.backups;
  try {
    if (directory !== undefined) {
      return await checkFolder({ directory }, database, now());
    }
    if (planned !== undefined) {
      return await checkFolder(planned, database, now());
    }
    const found = await findBeside(database);
    return found === null
      ? check(NAME, "skip", "No folder of backups is beside the ledger", MAKE)
      : await checkFolder({ directory: found }, database, now());
  } catch (error) {
    return check(
      NAME,
      "fail",
      `Their folder cannot be read: ${messageOf(error)}`,
    );
  }
}

async function checkFolder(
  { directory, everyMs }: Partial<BackupPlan> & { readonly directory: string },
  database: string,
  nowMs: number,
): Promise<Check> {
  const [newest] = await backupsIn(directory);
  const where = printable(directory);
  if (newest === undefined) {
    return check(NAME, "warn", `None is in ${where} yet`, MAKE);
  }
  const { size } = await stat(join(directory, newest.name));
  const ageMs = nowMs - newest.at;
  const made = ageMs < 0
    ? `is dated ${span(ageMs)} ahead of this clock`
    : `was made ${span(ageMs)} ago`;
  const detail = `The newest in ${where} ${made}${
    await onSameDisk(directory, database) ? "; it is on the ledger's disk" : ""
  }`;
  if (size === 0 || ageMs < 0) {
    return check(
      NAME,
      "warn",
      size === 0 ? `${detail}, and is empty` : detail,
      "Verify it: rampkit ledger verify --database-url file:COPY",
    );
  }
  return ageMs <= 2 * (everyMs ?? OFTEN_ENOUGH_MS)
    ? check(NAME, "ok", detail)
    : check(
      NAME,
      "warn",
      everyMs === undefined
        ? detail
        : `${detail}; one is due every ${span(everyMs)}`,
      "Does serve run with --backup-to? backup_failing in its log says what " +
        "stands in the way",
    );
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
