import { type Ledger, type LedgerTypes, openLedger } from "../../ledger/mod.ts";
import type { Config } from "../../core/settings/config.ts";

/**
 * Opens the ledger that the settings name, or makes it.
 *
 * Where no environment is named the ledger's own stamp is taken; a new ledger
 * is then stamped `sandbox`, so that nobody stamps production by accident.
 */
export function openConfigured(
  config: Config,
  { now, readOnly = false, unfinished = false, ...thread }:
    & {
      /** Clock, ms since the epoch. */
      readonly now: () => number;
      /** Changes nothing in the file, not even by opening it. @default {false} */
      readonly readOnly?: boolean;
      /** Opens it also where a move into it was stopped. @default {false} */
      readonly unfinished?: boolean;
    }
    & Pick<
      LedgerTypes.OpenDriverOptions,
      "worker" | "threadModule" | "onNoThread"
    >,
): Promise<Ledger> {
  return openLedger({
    url: config.databaseUrl,
    ...{ readOnly, unfinished },
    ...thread,
    ...(config.databaseToken === null
      ? {}
      : { authToken: config.databaseToken }),
    ...(config.environment === null
      ? { defaultEnvironment: "sandbox" }
      : { environment: config.environment }),
    now,
  });
}
