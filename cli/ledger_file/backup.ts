import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Config } from "../../core/settings/config.ts";
import { CommandError } from "../../core/settings/errors.ts";
import type { Io } from "../program/io.ts";
import { requireStored } from "../program/with_ledger.ts";
import { holdLedger } from "../../server/ledger_file/ledger_lock.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";
import {
  copyWhole,
  discardPartial,
  exists,
  partialCopy,
} from "../../server/ledger_file/copy_whole.ts";

/** How often the size of the copy is looked at, ms. */
const LOOK_EVERY_MS = 500;

/**
 * Copies the ledger into a file, and tells how far it is. The process does not
 * wait for the copy when it is asked to stop.
 *
 * @throws {CommandError} When the file exists, cannot be written, or the copy
 * was stopped.
 */
export async function backUp(
  io: Io,
  config: Config,
  { file, onProgress }: {
    readonly file: string;
    readonly onProgress: (megabytes: number) => void;
  },
): Promise<void> {
  // A lock beside a ledger that is not there would be left behind.
  await requireStored(config);
  using _held = await holdLedger(config);
  if (await exists(file)) {
    throw new CommandError(
      `Cannot write ${file}: it exists already; name a new file`,
    );
  }
  if (!await exists(dirname(file))) {
    throw new CommandError(`Cannot write ${file}: there is no such folder`);
  }
  io.signal.throwIfAborted();
  const copy = async () => {
    await using ledger = await openConfigured(config, io);
    await copyWhole(ledger, file, { signal: io.signal });
  };
  const copied = copy();
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(io.signal.reason);
  io.signal.addEventListener("abort", stop);
  const looking = setInterval(async () => {
    const found = await stat(partialCopy(file)).catch(() => null);
    if (found !== null) onProgress(Math.round(found.size / 1e6));
  }, LOOK_EVERY_MS);
  try {
    await Promise.race([copied, stopped.promise]);
  } catch (error) {
    copied.catch(() => {});
    if (!io.signal.aborted) throw error;
    await discardPartial(file);
    throw new CommandError(
      `Stopped: ${file} was not written; the ledger is as it was`,
      "stopped",
    );
  } finally {
    clearInterval(looking);
    io.signal.removeEventListener("abort", stop);
  }
}
