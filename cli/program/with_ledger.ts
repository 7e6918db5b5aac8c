import { stat } from "node:fs/promises";
import { errorCode } from "../../core/guards.ts";
import { dirname } from "node:path";
import type { Ledger } from "../../ledger/mod.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";
import { type Config, readConfig } from "../../settings/config.ts";
import { VARIABLES } from "../../settings/settings.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { CommandError } from "../../settings/errors.ts";
import { type Io, note } from "./io.ts";
import type { SharedFlags } from "./options.ts";

/**
 * Opens the configured ledger to read it, does the work, and closes it whatever
 * happens. Where there is no file yet nothing is made: what is read is empty,
 * and a note says why, because a mistyped name must not look like "no orders".
 */
export async function withReadLedger<T>(
  io: Io,
  flags: SharedFlags,
  work: (ledger: Ledger, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(io.env, flags);
  if (await isStored(config)) {
    await using ledger = await openConfigured(config, io);
    return await work(ledger, config);
  }
  await using ledger = await openConfigured(
    { ...config, databaseUrl: ":memory:" },
    io,
  );
  const result = await work(ledger, config);
  note(io, noLedger(config));
  return result;
}

/**
 * The same for work that says something about the file itself: evidence about a
 * ledger that is not there would be worthless.
 *
 * @param readOnly Changes nothing in the file, not even by opening it.
 * @throws {CommandError} When the database is a file that does not exist.
 */
export async function withStoredLedger<T>(
  io: Io,
  flags: SharedFlags,
  work: (ledger: Ledger, config: Config) => Promise<T>,
  readOnly = false,
): Promise<T> {
  const config = readConfig(io.env, flags);
  await requireStored(config);
  await using ledger = await openConfigured(config, { ...io, readOnly });
  return await work(ledger, config);
}

/**
 * Makes sure that the configured ledger may be there.
 *
 * @throws {CommandError} When the database is a file that does not exist.
 */
export async function requireStored(config: Config): Promise<void> {
  if (await isStored(config)) return;
  throw new CommandError(noLedger(config), "not_found");
}

/**
 * Whether the configured ledger may be there. A server is not asked, and in a
 * folder that does not exist opening the file says better what is wrong.
 */
export async function isStored({ databaseUrl }: Config): Promise<boolean> {
  const file = databaseFile(databaseUrl);
  return file === null || await exists(file) || !await exists(dirname(file));
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    return errorCode(error) !== "ENOENT";
  }
}

/** Says that there is no ledger yet, how one is made and how one is named. */
function noLedger({ databaseUrl }: Config): string {
  return `No ledger at ${databaseUrl}: the file does not exist; name another ` +
    `with --database-url or ${VARIABLES.databaseUrl}, or make one with serve, ` +
    "poll, webhook replay or ledger import";
}

/**
 * Opens the configured ledger, or makes it; otherwise as
 * {@linkcode withReadLedger}.
 *
 * Where no environment is named the ledger's own stamp is taken; a new ledger
 * is then stamped `sandbox`, so that production is never stamped by accident.
 *
 * @param needs Refuses settings: what cannot work leaves no file behind.
 */
export async function withLedger<T>(
  io: Io,
  flags: SharedFlags,
  work: (ledger: Ledger, config: Config) => Promise<T>,
  needs: (config: Config) => unknown = () => {},
): Promise<T> {
  const config = readConfig(io.env, flags);
  needs(config);
  await using ledger = await openConfigured(config, io);
  return await work(ledger, config);
}

/** Brings read models up to the head of the ledger before they are read. */
export async function upToDate(ledger: Ledger, io: Io): Promise<void> {
  if ((await ledger.lag()) > 0) await ledger.project({ signal: io.signal });
}
