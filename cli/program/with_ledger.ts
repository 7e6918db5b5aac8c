import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type {
  LedgerHold,
  OpenMode,
} from "../../resources/operations/operation.ts";
import {
  holdLedger,
  takeLedger,
} from "../../server/ledger_file/ledger_lock.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";
import { type Config, readConfig } from "../../core/settings/config.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { UsageError } from "../../core/settings/errors.ts";
import type { Io } from "./io.ts";
import type { SharedFlags } from "./options.ts";

/** How a command opens the configured ledger. */
export interface Opening {
  /** What happens where there is none. */
  readonly opens: OpenMode;
  /** Whether its file is held meanwhile. @default {it is not} */
  readonly holds?: LedgerHold;
  /** Whether a file works in a thread of its own, which takes a moment. @default {true} */
  readonly worker?: boolean;
  /** Refuses settings: what cannot work leaves no file behind. @default {none} */
  readonly needs?: (config: Config) => unknown;
}

/**
 * Opens the configured ledger, does the work, and closes it whatever happens.
 * Where it is only read and there is no file yet, nothing is made, and it is
 * wrong use, because a mistyped name must not look like "no orders".
 *
 * Where no environment is named the ledger's own stamp is taken; a new ledger
 * is then stamped `sandbox`, so that production is never stamped by accident.
 *
 * @throws {UsageError} When the database is a file that does not exist, and the
 * work does not make it.
 */
export async function withLedger<T>(
  io: Io,
  flags: SharedFlags,
  { opens, holds, worker = true, needs = () => {} }: Opening,
  work: (ledger: Ledger, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(io.env, flags);
  needs(config);
  if (opens === "closed") return await work(CLOSED, config);
  // A lock beside a ledger that is not there would be left behind.
  if (opens !== "begins") await requireStored(config);
  using _held = holds === undefined ? null : await held(config, holds);
  const readOnly = opens === "unchanged";
  await using ledger = await openConfigured(config, {
    ...{ worker, ...io, readOnly },
    unfinished: opens === "begins" && holds === "alone",
  });
  return await work(ledger, config);
}

/** Stands for a ledger that is not opened. */
const CLOSED = new Proxy({} as Ledger, {
  get: (_, name) => {
    throw new TypeError(`No ledger is open: ${String(name)} was asked for`);
  },
});

async function held(config: Config, hold: LedgerHold): Promise<Disposable> {
  const file = databaseFile(config.databaseUrl);
  return file === null || hold === "shared"
    ? await holdLedger(config)
    : takeLedger(file, "move");
}

/**
 * Makes sure that the configured ledger may be there.
 *
 * @throws {UsageError} When the database is a file that does not exist.
 */
export async function requireStored(config: Config): Promise<void> {
  const file = databaseFile(config.databaseUrl);
  if (file === null || await exists(file)) return;
  throw new UsageError(noLedger(config));
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

/** Brings read models up to the head of the ledger before they are read. */
export async function upToDate(ledger: Ledger, io: Io): Promise<void> {
  if ((await ledger.lag()) > 0) await ledger.project({ signal: io.signal });
}
