import type { Ledger } from "../next/ledger.ts";
import {
  ledgerOn,
  type LedgerOptions,
  openMemoryLedger,
} from "../next/open_ledger.ts";

/**
 * An empty ledger in memory, as `openLedger` gives it.
 *
 * @param options As of `openLedger`. @default {of the environment `sandbox`}
 */
export async function emptyLedger(
  options: LedgerOptions = {},
): Promise<Ledger> {
  const { environment = "sandbox", now = Date.now, randomBytes } = options;
  const driver = await openMemoryLedger({
    environment,
    now,
    ...(randomBytes && { randomBytes }),
  });
  return await ledgerOn(driver, { ...options, environment });
}
