import { mkdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import type { Ledger } from "../../ledger/mod.ts";
import { PARTIAL } from "./backup_names.ts";

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
 *
 * @param check Looks at the copy; when it throws there is no copy.
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
