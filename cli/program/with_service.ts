import { defined } from "../../core/guards.ts";
import type { OnrampClient } from "../../client/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { type Config, requireApiKey } from "../../settings/config.ts";
import type { Io } from "./io.ts";
import type { ServicePort } from "../../resources/operations/operation.ts";
import type { SharedFlags } from "./options.ts";
import { serviceClient } from "../../settings/service.ts";
import { withLedger } from "./with_ledger.ts";

/** Flags of a command that asks the service. */
export interface ServiceFlags extends SharedFlags {
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
  flags: ServiceFlags,
  work: (ledger: Ledger, client: OnrampClient) => Promise<T>,
): Promise<T> {
  return await withLedger(io, flags, async (ledger, config) => {
    const options = defined({ requestsPerSecond: flags.rate });
    const client = serviceClient(config, ledger.environment, options);
    return await work(ledger, client);
  }, requireApiKey);
}

/**
 * What operations ask the service with.
 *
 * @param make Makes a client.
 * @returns Null without an API key.
 */
export function servicePort(
  { apiKey }: Pick<Config, "apiKey">,
  make: (
    options?: { readonly allowUnlistedAssets: boolean },
  ) => OnrampClient,
): ServicePort | null {
  if (apiKey === null) return null;
  // One client paces all its sessions.
  let usual: OnrampClient | undefined;
  return {
    lists: () => make(),
    sessions: (allowUnlistedAssets = false) =>
      (allowUnlistedAssets ? make({ allowUnlistedAssets }) : usual ??= make())
        .sessions,
    newClickId: () => crypto.randomUUID(),
  };
}
