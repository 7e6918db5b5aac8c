/**
 * What works on the file of a ledger: its identity, damage, anchor, lock and
 * replacement. Native code is loaded only by the calls that need it.
 *
 * @module
 */
import type { FileLockMode } from "./store/connections/file_lock.ts";
import type { ReplaceOptions } from "./store/connections/replace_database.ts";

export { announceRestore, resetAnchor } from "./evidence/anchor_file.ts";
export { fileId } from "./store/connections/file_identity.ts";
export type { FileLockMode } from "./store/connections/file_lock.ts";
export { findDamage, requireWritable } from "./store/database.ts";

/**
 * Locks a file that holds nothing.
 *
 * @throws {Error} When the file cannot be made, or is no such file.
 */
export async function lockFile(
  path: string,
  mode: FileLockMode,
): Promise<Disposable | null> {
  const loaded = await import("./store/connections/file_lock.ts");
  return loaded.lockFile(path, mode);
}

/** Puts a database in the place of another. */
export async function replaceDatabase(
  options: ReplaceOptions,
): Promise<boolean> {
  const loaded = await import("./store/connections/replace_database.ts");
  return loaded.replaceDatabase(options);
}
