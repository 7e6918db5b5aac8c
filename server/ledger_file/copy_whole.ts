import { mkdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import type { Ledger } from "../../ledger/mod.ts";

/** Attempts to remove the folder of a copy that may just be beginning. */
const MOST_ATTEMPTS = 100;

/** Where a copy is while it is not whole. */
export function partialCopy(file: string): string {
  return `${folderOf(file)}/copy.db`;
}

/**
 * Copies a ledger into a file, which gets its name only when it is whole: until
 * then it is in the folder `FILE.partial`. The file is for its owner alone. The
 * copy itself cannot be interrupted: the signal is looked at before and after.
 */
export async function copyWhole(
  ledger: Ledger,
  file: string,
  { signal, check = () => Promise.resolve() }: {
    readonly signal: AbortSignal;
    readonly check?: (partial: string) => Promise<void>;
  },
): Promise<void> {
  const partial = partialCopy(file);
  try {
    await discardPartial(file);
    await mkdir(folderOf(file), { mode: 0o700 });
    // Nothing waits for a copy that was stopped, so it must not begin.
    signal.throwIfAborted();
    await ledger.backup(partial);
    signal.throwIfAborted();
    await check(partial);
    await rename(partial, file);
  } finally {
    await discardPartial(file);
  }
}

/**
 * Removes what a copy left; whatever else is in its folder stays. Once the
 * folder is gone, the database's thread cannot make the copy any more.
 */
export async function discardPartial(file: string): Promise<void> {
  const folder = folderOf(file);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    for (const end of ["", "-journal", "-wal", "-shm"]) {
      await unlink(`${partialCopy(file)}${end}`).catch(() => {});
    }
    try {
      return await rmdir(folder);
    } catch {
      if (!await exists(folder)) return;
    }
  }
}

/** Whether there is anything at a path. */
export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}

function folderOf(file: string): string {
  return `${file}${PARTIAL}`;
}

/** Name of the backup that is begun at a time: sorted by name is by time. */
export function backupName(ms: number): string {
  const time = new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, "");
  return `rampkit-${time}Z.db`;
}

/** The backups among the names of a folder, the newest first. */
export function backupsAmong(names: readonly string[]): readonly Backup[] {
  return names.map(readName).filter((one) => one !== null)
    .sort((a, b) => b.at - a.at);
}

/** A backup in its folder. */
export interface Backup {
  /** Name of its file. */
  readonly name: string;
  /** When it was begun, ms since the epoch. */
  readonly at: number;
}

/**
 * The backups among the names of a folder that were begun before a time and
 * never ended: of a process that was killed.
 */
export function unfinishedAmong(
  names: readonly string[],
  beforeMs: number,
): readonly string[] {
  const whole = names.filter((name) => name.endsWith(PARTIAL))
    .map((name) => name.slice(0, -PARTIAL.length));
  return backupsAmong(whole).filter(({ at }) => at < beforeMs)
    .map(({ name }) => name);
}

/** What follows the name of a backup that is not whole. */
const PARTIAL = ".partial";

const NAME = /^rampkit-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;

function readName(name: string): Backup | null {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : { name, at };
}
