import type { Ledger } from "../ledger.ts";
import { ledgerOn, type LedgerOptions } from "../ledger_on.ts";
import { openMemoryLedger } from "../store/memory_ledgers.ts";

/**
 * An empty ledger in memory, as `openLedger` gives it. Its tables are those of
 * a ledger that an earlier test has closed, where there is one: to make them
 * takes longer than most tests.
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
