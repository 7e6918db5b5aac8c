import { open, statfs, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../core/guards.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { LIMITS } from "../../resources/health/limits.ts";
import type { Config } from "../../core/settings/config.ts";
import { fileId } from "../../ledger/for_ledger_file.ts";
import { lastServing } from "../ledger_file/ledger_lock.ts";
import { counted } from "../../resources/views/text.ts";
import {
  damagedSpoolFiles,
  type LeftSpoolFiles,
  leftSpoolFiles,
} from "../ledger_file/left_spool_files.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";

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
