import type { Driver } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import { commitmentOf } from "./chain.ts";

/**
 * Erases the body, digest and salt of one event. Its columns stay, and so does
 * its commitment: the chain holds as before. From what is left of a webhook
 * nobody can guess the body; the id of a reading is a hash that its body went
 * into, and whoever guesses all of it can see that it is right.
 *
 * Orders and users say what the body said until {@linkcode Ledger.refold}, and
 * the unused pages of a file hold it even then: to be rid of it there too, put
 * a fresh {@linkcode Ledger.backup} in the place of the file.
 *
 * A reading that was erased stays erased: the poller remembers its digest, and
 * records nothing for as long as the service says the very same. Refolded, the
 * order or user therefore falls back on what the other events say, and what
 * webhooks claim of it stays a claim; so of an order whose status is still
 * needed, keep the last reading. Once the service says anything new, that is
 * recorded whole: have it erased there first. A ledger filled from an export
 * does not know what was erased, and reads it again.
 *
 * @param driver A database that has been migrated.
 * @param position The event.
 * @returns Whether there was something to erase.
 * @throws {LedgerError} When the database fails.
 *
 * @example Erase what a person asked to have erased
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
  const [result] = await driver.batch([{
    sql: `SELECT ${eventColumns} FROM events WHERE position = ?`,
    args: [position],
  }], "write");
  const row = result?.rows[0];
  if (row === undefined) return false;
  const { body, digest, salt } = recordedEvent(row);
  if (body === null || digest === null || salt === null) return false;
  await driver.batch([{
    sql: "INSERT INTO erasures (position, commitment) VALUES (?, ?) " +
      "ON CONFLICT DO NOTHING",
    args: [position, commitmentOf({ body, digest, salt })],
  }, {
    sql: "UPDATE events SET body = NULL, digest = NULL, salt = NULL " +
      "WHERE position = ?",
    args: [position],
  }], "write");
  return true;
}
