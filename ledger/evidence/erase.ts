import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import { eraseBodyAt } from "../store/tables/chain.ts";
import { selectEventAt } from "../store/tables/events/events.ts";
import { bodyCommitment } from "../hashes/commitment.ts";

/**
 * Erases the body, digest and salt of one event; `Ledger.erasures` erases a
 * whole person and prunes old bodies. Its columns stay, and so does the
 * commitment to its body: the chain still verifies, and still covers the
 * columns. The body of a webhook cannot be guessed from what is left. The id of
 * a reading is a hash that includes its body, so a guess of the whole body can
 * be checked.
 *
 * Orders and users still say what the body said until {@linkcode Ledger.refold}
 * has run. Unused pages of the file hold it even then: to remove it there as
 * well, replace the file with a fresh {@linkcode Ledger.backup}.
 *
 * A reading that was erased stays erased: the poller remembers its digest and
 * records nothing while the service answers the same. After a refold the order
 * or user has the state of its other events, and webhooks stay claims; so keep
 * the last reading of an order whose status is still needed. Once the service
 * answers anything new, all of it is recorded: have it erased there first. A
 * ledger filled from an export does not know what was erased, and reads it again.
 *
 * @param driver The database of a ledger.
 * @param position The event.
 * @returns Whether there was something to erase.
 * @throws {LedgerError} When the database fails.
 *
 * @example Erase the body of one event
 * ```ts
 * import { eraseBody, openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 *   worker: false,
 * });
 * await ledger.recordSession({ session_id: "5f0c6a0e", flow_type: "simple" });
 * assert.equal(await eraseBody(ledger.driver, 1), true);
 * assert.equal((await ledger.verify()).ok, true);
 * ```
 */
export async function eraseBody(
  driver: Driver,
  position: number,
): Promise<boolean> {
  const [result] = await driver.batch([selectEventAt(position)], "write");
  const row = result?.rows[0];
  if (row === undefined) return false;
  const { body, digest, salt } = recordedEvent(row);
  if (body === null || digest === null || salt === null) return false;
  const commitment = bodyCommitment({ body, digest, salt });
  await driver.batch(eraseBodyAt(position, commitment), "write");
  return true;
}
