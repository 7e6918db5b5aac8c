import { open, statfs, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../core/guards.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { LIMITS } from "../../resources/health/limits.ts";
import type { Config } from "../../settings/config.ts";

type Place = Pick<Config, "databaseUrl">;

/**
 * What is left of the disk that the ledger is on.
 *
 * @param freeBytes Measures it. @default statfs
 * @returns Nothing where the ledger has no disk here.
 */
export async function lookAtDisk(
  { databaseUrl }: Place,
  freeBytes: (folder: string) => Promise<number> = freeBytesOf,
): Promise<readonly Finding[]> {
  const file = databaseFile(databaseUrl);
  if (file === null) return [];
  const free = await freeBytes(dirname(file));
  const isLow = free < LIMITS.diskFreeBytes;
  return [
    found(isLow ? "disk_nearly_full" : "disk_has_room", {
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
