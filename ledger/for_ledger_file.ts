/**
 * What works on the file of a ledger: its identity, damage, anchor, lock and
 * replacement.
 *
 * @module
 */
export { announceRestore, resetAnchor } from "./evidence/anchor_file.ts";
export {
  fileId,
  type FileLockMode,
  lockFile,
  replaceDatabase,
} from "./store/files.ts";
export { findDamage, requireWritable } from "./store/database.ts";
