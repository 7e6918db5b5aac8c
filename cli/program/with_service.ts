import { defined } from "../../core/guards.ts";
import type { OnrampClient } from "../../client/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { readConfig, requireApiKey } from "../../settings/config.ts";
import type { Io } from "./io.ts";
import type { SharedFlags } from "./options.ts";
import { serviceClient } from "../../settings/service.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";

/** Flags of a command that asks the service. */
export interface ServiceFlags extends SharedFlags {
  /** Requests a second. @default {the client's own} */
  readonly rate?: number;
  /** Whether pairs that are not listed are let through. @default {false} */
  readonly allowUnlistedAssets?: boolean;
}

/**
 * Opens the ledger and a client for its environment, does the work, and closes
 * the ledger. The key is looked for first: a command that cannot work leaves
 * no file behind.
 *
 * @throws {UsageError} When no API key is set.
 */
export async function withService<T>(
  io: Io,
  flags: ServiceFlags,
  work: (ledger: Ledger, client: OnrampClient) => Promise<T>,
): Promise<T> {
  const config = readConfig(io.env, flags);
  requireApiKey(config);
  await using ledger = await openConfigured(config, io);
  const client = serviceClient(
    config,
    ledger.environment,
    defined({
      requestsPerSecond: flags.rate,
      allowUnlistedAssets: flags.allowUnlistedAssets ?? false,
    }),
  );
  return await work(ledger, client);
}
