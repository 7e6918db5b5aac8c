import { mkdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../program/exit_codes.ts";
import type { Io } from "../program/io.ts";
import type { SharedFlags } from "../program/options.ts";
import { progress } from "../views/progress.ts";
import { withStoredLedger } from "../program/with_ledger.ts";

/** How often the size of the copy is looked at, ms. */
const LOOK_EVERY_MS = 500;

/** Attempts to remove the folder of a copy that may just be beginning. */
const MOST_ATTEMPTS = 100;

/**
 * Copies the ledger into a file, which gets its name only when it is whole:
 * until then it is in the folder `FILE.partial`. The copy itself cannot be
 * interrupted, so the process does not wait for it when it is told to stop.
 * Once its folder is gone, the database's thread cannot make the copy any more.
 *
 * @throws {CommandError} When the file exists, cannot be written, or the copy
 * was stopped.
 */
export async function backUp(
  io: Io,
  flags: SharedFlags,
  file: string,
): Promise<void> {
  if (await exists(file)) {
    throw new CommandError(
      `Cannot write ${file}: it exists already; name a new file`,
    );
  }
  if (!await exists(dirname(file))) {
    throw new CommandError(`Cannot write ${file}: there is no such folder`);
  }
  io.signal.throwIfAborted();
  const folder = `${file}.partial`;
  const partial = `${folder}/copy.db`;
  const copied = withStoredLedger(io, flags, async (ledger) => {
    await discard(folder);
    await mkdir(folder, { mode: 0o700 });
    // Nothing waits for this work any more, so it must not begin to write.
    io.signal.throwIfAborted();
    await ledger.backup(partial);
    io.signal.throwIfAborted();
    await rename(partial, file);
  }).finally(() => discard(folder));
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(io.signal.reason);
  io.signal.addEventListener("abort", stop);
  using bar = progress(io, "MB copied", !flags.json);
  const looking = setInterval(async () => {
    const found = await stat(partial).catch(() => null);
    if (found !== null) bar.at(Math.round(found.size / 1e6));
  }, LOOK_EVERY_MS);
  try {
    await Promise.race([copied, stopped.promise]);
  } catch (error) {
    copied.catch(() => {});
    if (!io.signal.aborted) throw error;
    await discard(folder);
    throw new CommandError(
      `Stopped: ${file} was not written; the ledger is as it was`,
    );
  } finally {
    clearInterval(looking);
    io.signal.removeEventListener("abort", stop);
    bar.end();
  }
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(() => true, () => false);
}

/** Removes what a copy left; whatever else is in its folder stays. */
async function discard(folder: string): Promise<void> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    for (const end of ["", "-journal", "-wal"]) {
      await unlink(`${folder}/copy.db${end}`).catch(() => {});
    }
    try {
      return await rmdir(folder);
    } catch {
      if (!await exists(folder)) return;
    }
  }
}
