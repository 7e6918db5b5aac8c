/** What tests of erasing and pruning work with. */
import assert from "node:assert/strict";
import { verifyStates } from "../evidence/verify_states.ts";
import type { Ledger } from "../ledger.ts";
import { ledgerOn } from "../ledger_on.ts";
import { openDriver } from "../store/driver/open_driver.ts";

/**
 * An empty ledger in memory.
 *
 * @param now Its clock, ms since the epoch.
 */
export async function memoryLedger(
  now: () => number = Date.now,
): Promise<Ledger> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  return await ledgerOn(driver, { environment: "sandbox", now });
}

/** Asserts that the states are those that follow from the events. */
export async function assertFollows({ driver }: Ledger): Promise<void> {
  const scratch = await openDriver({ url: ":memory:", worker: false });
  try {
    const { differences } = await verifyStates(driver, {
      scratch,
      assets: "sandbox",
    });
    assert.deepEqual(differences, []);
  } finally {
    await scratch.close();
  }
}
