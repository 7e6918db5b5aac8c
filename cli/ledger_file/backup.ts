import { rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CommandError } from "../program/exit_codes.ts";
import type { Io } from "../program/io.ts";
import type { SharedFlags } from "../program/options.ts";
import { progress } from "../views/progress.ts";
import { withStoredLedger } from "../program/with_ledger.ts";

/** How often the size of the copy is looked at, ms. */
const LOOK_EVERY_MS = 500;

/**
 * Copies the ledger into a file, which gets its name only when it is whole:
 * until then it is `FILE.partial`. The copy itself cannot be interrupted, so
 * the process does not wait for it when it is told to stop.
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
  const partial = `${file}.partial`;
  const copied = withStoredLedger(io, flags, async (ledger) => {
    await remove(partial);
    // Nothing waits for this work any more, so it must not begin to write.
    io.signal.throwIfAborted();
    await ledger.backup(partial);
    if (io.signal.aborted) await remove(partial);
    else await rename(partial, file);
  });
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(io.signal.reason);
  io.signal.addEventListener("abort", stop);
  using bar = progress(io, "MB copied", !flags.json);
  const looking = setInterval(async () => {
    const found = await stat(partial).catch(() => null);
    if (found !== null) bar.at(Math.round(found.size / 1e6));
  }, LOOK_EVERY_MS);
  try {
    io.signal.throwIfAborted();
    await Promise.race([copied, stopped.promise]);
  } catch (error) {
    copied.catch(() => {});
    await remove(partial);
    // The database's thread may be about to open the file that was removed.
    await Promise.race([copied.catch(() => {}), setTimeout(250)]);
    await remove(partial);
    if (!io.signal.aborted) throw error;
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

async function remove(file: string): Promise<void> {
  for (const suffix of ["", "-journal", "-wal"]) {
    await unlink(file + suffix).catch(() => {});
  }
}
