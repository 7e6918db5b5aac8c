import { open, readdir, stat, statfs, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../core/guards.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { LIMITS } from "../../resources/health/conditions.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import type { Config } from "../../core/settings/config.ts";
import { fileId } from "../../ledger/for_ledger_file.ts";
import {
  type BackupPlan,
  lastServing,
  serving,
} from "../ledger_file/ledger_lock.ts";
import { counted } from "../../resources/views/text.ts";
import {
  damagedSpoolFiles,
  type LeftSpoolFiles,
  leftSpoolFiles,
} from "../ledger_file/left_spool_files.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import { printable } from "../../core/text.ts";
import { span } from "../../resources/wording/phrases.ts";
import { type Backup, backupsAmong } from "../ledger_file/regular_backups.ts";

type Place = Pick<Config, "databaseUrl">;

/** Room left on the disk of the ledger. */
export async function lookAtDisk(
  { databaseUrl }: Place,
  freeBytes: (folder: string) => Promise<number> = freeBytesOf,
): Promise<readonly Finding[]> {
  const file = databaseFile(databaseUrl);
  if (file === null) return [];
  const free = await freeBytes(dirname(file));
  const code = free < LIMITS.diskFullBytes
    ? "disk_full"
    : free < LIMITS.diskFreeBytes
    ? "disk_nearly_full"
    : "disk_has_room";
  return [
    found(code, {
      more: `${Math.floor(free / 1024 ** 2)} MiB are free`,
      facts: { freeBytes: free },
    }),
  ];
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** A ledger that is not there yet: whether `serve` can make it. */
export async function lookForPlace(
  { databaseUrl }: Place,
): Promise<readonly Finding[]> {
  const file = databaseFile(databaseUrl);
  const refusal = file === null ? null : await makeRefusal(dirname(file));
  return [
    refusal === null
      ? found("ledger_missing", { more: `${databaseUrl} does not exist` })
      : found("ledger_not_made", { more: `${databaseUrl}: ${refusal}` }),
  ];
}

/** Why no file can be made in a folder; null where one can be. */
async function makeRefusal(folder: string): Promise<string | null> {
  const probe = join(folder, `.rampkit-doctor-${crypto.randomUUID()}`);
  try {
    await (await open(probe, "wx")).close();
    await unlink(probe);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Why the system does not let this user write the ledger's file; null where it
 * does, or where the ledger is on a server. SQLite reads such a file without a
 * word. To be called before the ledger is opened: closing a file drops every
 * lock that this process has on it.
 */
export async function writeRefusal(
  { databaseUrl }: Place,
): Promise<string | null> {
  const file = databaseFile(databaseUrl);
  if (file === null) return null;
  try {
    await (await open(file, "r+")).close();
    return null;
  } catch (error) {
    return `${messageOf(error)}; give the user of serve the right to write ` +
      "it and its folder, or run doctor as that user";
  }
}

/** Whether a running `serve` has the ledger's own file open. */
export async function lookAtServe(
  { databaseUrl }: Pick<Config, "databaseUrl">,
  isPolled: () => Promise<boolean>,
): Promise<readonly Finding[]> {
  const file = databaseFile(databaseUrl);
  if (file === null) return [];
  const holder = lastServing(file);
  if (holder === null) {
    return await isPolled() ? [] : [found("serve_not_running")];
  }
  const more = `process ${holder.pid}`;
  if (holder.isGone) return [found("serve_died", { more })];
  return [
    holder.database === fileId(file)
      ? found("serve_running", { more })
      : found("ledger_replaced", { more }),
  ];
}

/**
 * Deliveries that wait in files that no process works on, and damaged files.
 */
export async function lookAtSpool(
  config: Pick<Config, "spoolDir" | "databaseUrl">,
  isOwn = false,
): Promise<readonly Finding[]> {
  const directory = spoolDirectory(config);
  if (directory === null) return [found("spool_unused")];
  let left: LeftSpoolFiles;
  try {
    left = isOwn
      ? { waiting: [], damaged: await damagedSpoolFiles(directory) }
      : await leftSpoolFiles(directory);
  } catch (error) {
    const more = `${directory}: ${messageOf(error)}`;
    return [found("spool_unreadable", { more })];
  }
  const { waiting, damaged } = left;
  const details = (files: readonly string[]) => ({
    more: `${counted(files.length, "file")} in ${directory}`,
    facts: { files: files.length },
  });
  if (damaged.length > 0) return [found("spool_damaged", details(damaged))];
  return [
    waiting.length > 0
      ? found("spool_left", details(waiting))
      : found("spool_empty"),
  ];
}

/** What to look at. */
interface BackupLookOptions {
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
