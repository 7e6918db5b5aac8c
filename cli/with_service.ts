import type { OnrampClient } from "../client/mod.ts";
import type { Ledger } from "../ledger/mod.ts";
import { readConfig, requireApiKey } from "./config.ts";
import type { Io } from "./io.ts";
import type { SharedFlags } from "./options.ts";
import { serviceClient } from "./service.ts";
import { withLedger } from "./with_ledger.ts";

/** Flags of a command that asks the service at a rate of its own. */
export interface RateFlags extends SharedFlags {
  /** Requests a second. @default {the client's own} */
  readonly rate?: number;
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
  flags: RateFlags,
  work: (ledger: Ledger, client: OnrampClient) => Promise<T>,
): Promise<T> {
  requireApiKey(readConfig(io.env, flags));
  return await withLedger(io, flags, (ledger, config) => {
    const client = serviceClient(
      config,
      ledger.environment,
      flags.rate === undefined ? {} : { requestsPerSecond: flags.rate },
    );
    return work(ledger, client);
  });
}
