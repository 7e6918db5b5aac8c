import { messageOf } from "../../core/guards.ts";
import { resetAnchor } from "../../ledger/internals.ts";
import { databaseFile } from "../../ledger/store/driver/database_url.ts";
import { type Config, readConfig } from "../program/config.ts";
import { CommandError, UsageError } from "../program/exit_codes.ts";
import type { Io } from "../program/io.ts";
import { takeLedger } from "./ledger_lock.ts";
import type { SharedFlags } from "../program/options.ts";
import { openConfigured } from "../program/with_ledger.ts";
import { describeDamage } from "../wording/damage_reason.ts";

/** What `ledger restore` did. */
export interface Restored {
  /** When, UTC ISO 8601. */
  readonly restoredAt: string;
  /** The ledger's file. */
  readonly file: string;
  /** What it was copied from. */
  readonly from: string;
  /** Where the old one is now; null when there was none. */
  readonly keptAs: string | null;
  /** Its environment. */
  readonly environment: string;
  /** Events in it. */
  readonly events: number;
  /** Hash of its last event. */
  readonly hash: string;
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
  flags: SharedFlags,
  from: string,
): Promise<Restored> {
  const config = readConfig(io.env, flags);
  const file = databaseFile(config.databaseUrl);
  if (file === null) {
    throw new UsageError(
      `Cannot restore ${config.databaseUrl}: only a ledger in a file can be ` +
        "restored here; use the backup tools of its server",
    );
  }
  using _alone = takeLedger(file);
  const copy = `${file}.restoring`;
  const restoredAt = new Date(io.now()).toISOString();
  try {
    await copyLedger(from, copy);
    const found = await verified(io, from, {
      ...config,
      databaseUrl: `file:${encodeURI(copy)}`,
    });
    io.signal.throwIfAborted();
    const keepAs = `${file}.replaced-${restoredAt.replaceAll(":", "")}`;
    // Native code: only here, so that every other command loads without it.
    const { replaceDatabase } = await import(
      "../../ledger/store/driver/replace_database.ts"
    );
    const kept = replaceDatabase({ path: file, by: copy, keepAs });
    // The chain is another one now, on purpose.
    await resetAnchor(file, { now: io.now });
    const restored: Restored = {
      restoredAt,
      file,
      from,
      keptAs: kept ? keepAs : null,
      ...found,
    };
    await record(file, restored);
    return restored;
  } finally {
    await remove(copy);
  }
}

/** Copies a closed ledger, or one that was copied together with its log. */
async function copyLedger(from: string, to: string): Promise<void> {
  await remove(to);
  try {
    await copyPrivate(from, to);
    if (await exists(`${from}-wal`)) {
      await copyPrivate(`${from}-wal`, `${to}-wal`);
    }
  } catch (error) {
    throw new CommandError(
      await exists(from)
        ? `Cannot copy ${from} to ${to}: ${messageOf(error)}`
        : `Cannot restore ${from}: there is no such file`,
    );
  }
}

async function copyPrivate(from: string, to: string): Promise<void> {
  using source = await Deno.open(from);
  using target = await Deno.open(to, {
    write: true,
    createNew: true,
    mode: 0o600,
  });
  await Deno.chmod(to, 0o600);
  await source.readable.pipeTo(target.writable, { preventClose: true });
  await target.sync();
}

async function verified(
  io: Io,
  from: string,
  config: Config,
): Promise<Pick<Restored, "environment" | "events" | "hash">> {
  await using ledger = await openConfigured(config, io);
  const { signal } = io;
  await ledger.chain({ signal });
  const found = await ledger.verify({ signal });
  if (found.reason !== null) {
    throw new CommandError(
      `Cannot restore ${from}: it is broken at position ` +
        `${found.firstBrokenPosition}: ${
          describeDamage(found.reason)
        }; take another copy`,
    );
  }
  if (found.events === 0) {
    throw new CommandError(`Cannot restore ${from}: it holds no event`);
  }
  const { environment } = ledger;
  return { environment, events: found.events, hash: found.hash };
}

/** Kept beside the ledger: it explains why the chain is another one now. */
async function record(file: string, restored: Restored): Promise<void> {
  const path = `${file}-restored.ndjson`;
  await Deno.writeTextFile(path, `${JSON.stringify(restored)}\n`, {
    append: true,
    mode: 0o600,
  });
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function remove(copy: string): Promise<void> {
  for (const end of ["", "-wal", "-shm", "-chain"]) {
    await Deno.remove(copy + end).catch(() => {});
  }
}
