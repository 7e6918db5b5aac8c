/**
 * What works on the file of a ledger: its identity, damage, anchor, lock and
 * replacement.
 *
 * @module
 */
export { announceRestore, resetAnchor } from "./evidence/anchor_file.ts";
export { fileId } from "./store/connections/file_identity.ts";
export { type FileLockMode, lockFile } from "./store/file_lock.ts";
export { replaceDatabase } from "./store/connections/replace_database.ts";
export { findDamage, requireWritable } from "./store/database.ts";
