import type { Io } from "../program/io.ts";
import { takeLedger } from "../../server/ledger_file/ledger_lock.ts";
import type { SharedFlags } from "../program/options.ts";
import {
  removeCopy,
  RESTORE_STEPS,
  type Restored,
  restoreJob,
} from "./restore_steps.ts";

/**
 * Puts a copy of a ledger in the place of the configured one. The copy is
 * verified before, beside the ledger; the old one is kept under another name.
 *
 * @throws {UsageError} When the ledger is on a server or in memory.
 * @throws {CommandError} When it is in use, or the copy is missing or broken.
 */
export async function restore(
  io: Io,
  flags: SharedFlags,
  from: string,
): Promise<Restored> {
  let job = restoreJob(io, flags, from);
  using _alone = await takeLedger(job.restored.file);
  try {
    for (const step of RESTORE_STEPS) job = await step(job);
    return job.restored;
  } finally {
    await removeCopy(job.copy);
  }
}
