import type { Ledger } from "../../ledger/mod.ts";
import { isPolled } from "../../ledger/for_sync.ts";
import type { Config } from "../../settings/config.ts";
import { VARIABLES } from "../../settings/settings.ts";

/** What to do about an order or user that the ledger does not know. A poll is
 * advised only where one can be made: not without a key, and not beside another
 * poller, which has the ledger to itself. */
export async function pollAdvice(
  ledger: Ledger,
  { apiKey }: Config,
): Promise<string> {
  if (await isPolled(ledger.driver)) {
    return "a poller works on this ledger and reads what the service has, so " +
      "look at the id, or again in a minute";
  }
  return "what the service has is read by: rampkit poll --once" +
    (apiKey === null ? ` (with ${VARIABLES.apiKey} set)` : "");
}
