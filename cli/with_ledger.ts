import { type Ledger, openLedger } from "../ledger/mod.ts";
import { type Config, readConfig } from "./config.ts";
import type { Io } from "./io.ts";
import type { SharedFlags } from "./options.ts";

/**
 * Opens the configured ledger, does the work, and closes it whatever happens.
 *
 * Where no environment is named the ledger's own stamp is taken; a new ledger
 * is then stamped `sandbox`, so that nobody stamps production by accident.
 */
export async function withLedger<T>(
  io: Io,
  flags: SharedFlags,
  work: (ledger: Ledger, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(io.env, flags);
  await using ledger = await openConfigured(config, io);
  return await work(ledger, config);
}

/** Opens the ledger that the settings name. */
export function openConfigured(config: Config, io: Io): Promise<Ledger> {
  return openLedger({
    url: config.databaseUrl,
    ...(config.databaseToken === null
      ? {}
      : { authToken: config.databaseToken }),
    ...(config.environment === null
      ? { defaultEnvironment: "sandbox" }
      : { environment: config.environment }),
    now: io.now,
  });
}

/** Brings read models up to the head of the ledger before they are read. */
export async function upToDate(ledger: Ledger, io: Io): Promise<void> {
  if ((await ledger.lag()) > 0) await ledger.project({ signal: io.signal });
}
