import { appendFile, open, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { createReadStream } from "node:fs";
import type { Config } from "../../core/settings/config.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import type { Io } from "../program/io.ts";
import { requireStored } from "../program/with_ledger.ts";
import {
  holdLedger,
  takeLedger,
} from "../../server/ledger_file/ledger_lock.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";
import {
  copyWhole,
  discardPartial,
  exists,
  partialCopy,
} from "../../server/ledger_file/regular_backups.ts";
import { messageOf } from "../../core/guards.ts";
import {
  announceRestore,
  replaceDatabase,
  resetAnchor,
} from "../../ledger/for_ledger_file.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { LedgerError } from "../../ledger/mod.ts";
import { describeDamage } from "../../resources/wording/phrases.ts";
import type { Restored } from "../../resources/operations/operation.ts";

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

/** What a restore is to do, and what its steps have found so far. */
interface RestoreJob {
  readonly io: Io;
  readonly config: Config;
  /** The copy, while it is beside the ledger. */
  readonly copy: string;
  readonly restored: Restored;
}

/**
 * Reads what is to be restored where.
 *
 * @throws {UsageError} When the ledger is on a server or in memory.
 */
export function restoreJob(
  io: Io,
  config: Config,
  from: string,
): RestoreJob {
  const file = databaseFile(config.databaseUrl);
  if (file === null) {
    throw new UsageError(
      `Cannot restore ${config.databaseUrl}: only a ledger in a file can be ` +
        "restored here; use the backup tools of its server",
    );
  }
  const restoredAt = new Date(io.now()).toISOString();
  return {
    io,
    config,
    copy: `${file}.restoring`,
    restored: {
      restoredAt,
      file,
      from,
      previousFile: null,
      environment: "",
      events: 0,
      hash: "",
    },
  };
}

/**
 * The steps of a restore, in order. After each of them the old ledger or the
 * new one is in place, whole, with the anchored head that belongs to it: a restore
 * that is killed there can be run again.
 */
export const RESTORE_STEPS: readonly ((
  job: RestoreJob,
) => Promise<RestoreJob>)[] = [
  copyBeside,
  verifyCopy,
  announce,
  swap,
  giveUpHead,
  record,
];

/** Copies a closed ledger, or one that was copied together with its log. */
async function copyBeside(job: RestoreJob): Promise<RestoreJob> {
  const { copy, restored: { from } } = job;
  await removeCopy(copy);
  try {
    await copyPrivate(from, copy);
    if (await exists(`${from}-wal`)) {
      await copyPrivate(`${from}-wal`, `${copy}-wal`);
    }
  } catch (error) {
    throw new CommandError(
      await exists(from)
        ? `Cannot copy ${from} to ${copy}: ${messageOf(error)}`
        : `Cannot restore ${from}: there is no such file`,
    );
  }
  return job;
}

async function verifyCopy(job: RestoreJob): Promise<RestoreJob> {
  const { io, copy, restored } = job;
  const config = { ...job.config, databaseUrl: `file:${encodeURI(copy)}` };
  await using ledger = await openConfigured(config, io).catch((error) => {
    throw isNoLedger(error)
      ? new CommandError(
        `Cannot restore ${restored.from}: it is not a copy of a ledger; what ` +
          "`ledger export` wrote is taken in by: rampkit ledger import",
      )
      : error;
  });
  const { signal } = io;
  await ledger.chain();
  const found = await ledger.verify({ signal });
  if (found.reason !== null) {
    throw new CommandError(
      `Cannot restore ${restored.from}: it is broken at position ` +
        `${found.firstBrokenPosition}: ${
          describeDamage(found.reason)
        }; take another copy`,
    );
  }
  const { events, hash } = found;
  if (events === 0) {
    throw new CommandError(
      `Cannot restore ${restored.from}: it holds no event`,
    );
  }
  signal.throwIfAborted();
  const { environment } = ledger;
  return { ...job, restored: { ...restored, environment, events, hash } };
}

/**
 * Whether the file is something else; the error names the copy beside the
 * ledger, which means nothing to the caller.
 */
function isNoLedger(error: unknown): boolean {
  return error instanceof LedgerError &&
    (error.code === "not_a_database" || error.code === "not_a_ledger");
}

/** From the swap on the anchored head counts as given up. */
async function announce(job: RestoreJob): Promise<RestoreJob> {
  const { io: { now }, copy, restored } = job;
  await announceRestore(restored.file, copy, { now });
  return job;
}

async function swap(job: RestoreJob): Promise<RestoreJob> {
  const { copy, restored } = job;
  const { file, restoredAt } = restored;
  const previousFile = `${file}.replaced-${restoredAt.replaceAll(":", "")}`;
  try {
    const kept = replaceDatabase({ path: file, by: copy, previousFile });
    return {
      ...job,
      restored: { ...restored, previousFile: kept ? previousFile : null },
    };
  } catch (error) {
    // The copy is removed, and another file may get its inode.
    await announceRestore(file, null);
    throw error;
  }
}

/** The chain is another one now, on purpose. */
async function giveUpHead(job: RestoreJob): Promise<RestoreJob> {
  await resetAnchor(job.restored.file, { now: job.io.now });
  return job;
}

/** Kept beside the ledger: it explains why the chain is another one now. */
async function record(job: RestoreJob): Promise<RestoreJob> {
  const path = `${job.restored.file}-restored.ndjson`;
  await appendFile(path, `${JSON.stringify(job.restored)}\n`, {
    mode: 0o600,
  });
  return job;
}

async function copyPrivate(from: string, to: string): Promise<void> {
  await using target = await open(to, "wx", 0o600);
  // The umask may say otherwise.
  await target.chmod(0o600);
  await target.writeFile(createReadStream(from));
  await target.sync();
}

/** Removes what a restore has beside the ledger. */
async function removeCopy(copy: string): Promise<void> {
  for (const end of ["", "-wal", "-shm", "-chain"]) {
    await unlink(copy + end).catch(() => {});
  }
}

/**
 * Puts a copy of a ledger in the place of the configured one. The copy is
 * verified before, beside the ledger; the old one is kept under another name.
 *
 * @throws {UsageError} When the ledger is on a server or in memory.
 * @throws {CommandError} When it is in use, or the copy is missing or broken.
 */
export async function restore(
  io: Io,
  config: Config,
  from: string,
): Promise<Restored> {
  let job = restoreJob(io, config, from);
  using _alone = takeLedger(job.restored.file);
  try {
    for (const step of RESTORE_STEPS) job = await step(job);
    return job.restored;
  } finally {
    await removeCopy(job.copy);
  }
}
