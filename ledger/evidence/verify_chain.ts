import type { Driver } from "../store/driver/driver.ts";
import type { ChainOrigin } from "../hashes/chain_hash.ts";
import { selectPositionOf } from "../store/tables/chain.ts";
import {
  selectEventsAfter,
  selectOrphanLinks,
  unpackEvents,
} from "../store/tables/events/chained_events.ts";
import { type Finding, finding, type Row } from "./_check_event.ts";
import type { Verification, VerifyOptions } from "./verification.ts";
import { type ChainReferences, ChainVerifier } from "./_chain_verifier.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import { selectEventWithId } from "../store/tables/events/events.ts";
import { readStoredHead } from "./chain_head.ts";
import { LedgerError } from "../store/driver/errors.ts";

/**
 * Computes the whole chain again, and everything that bodies determine, and
 * stops at the first thing wrong. Events appended meanwhile do not disturb it.
 *
 * @param driver The database of a ledger.
 * @param origin The ledger.
 * @param options What to hold the chain against.
 * @throws {LedgerError} When the database fails.
 *
 * @example Verify against what was kept elsewhere
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { extendChain } from "./extend_chain.ts";
 * import { verifyChain } from "./verify_chain.ts";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 *   worker: false,
 * });
 * await ledger.recordSession({ session_id: "5f0c6a0e", flow_type: "simple" });
 * const origin = { environment: "sandbox", ledgerId: "0".repeat(32) };
 * const { events: count, hash } = await extendChain(ledger.driver, origin);
 * const found = await verifyChain(ledger.driver, origin, {
 *   expect: { count, hash },
 * });
 * assert.equal(found.ok, true);
 * ```
 */
export async function verifyChain(
  driver: Driver,
  origin: ChainOrigin,
  options: VerifyOptions = {},
): Promise<Verification> {
  const { expect, anchor } = options;
  // The anchor is read first: the chain can only have grown since.
  const anchored = await readAnchor(anchor);
  const head = await readStoredHead(driver);
  const verifier = new ChainVerifier(origin, { ...anchored, head, expect });
  const limit = options.limit ?? 500;
  let reading = readRows(driver, 0, limit);
  try {
    for (;;) {
      const rows = await reading;
      const last = rows.at(-1);
      if (last === undefined) {
        const found = await checkUnmatched(driver, verifier);
        return found === null ? verifier.end() : verifier.broken(found);
      }
      // The database reads the next rows while these are checked.
      reading = readRows(driver, last.position, limit);
      // Awaited in the next round; until then a failure must not go unhandled.
      reading.catch(() => {});
      for (const row of rows) {
        const found = verifier.step(row);
        if (found !== null) {
          return verifier.broken(await recogniseMoved(driver, found));
        }
      }
      options.onProgress?.(verifier.events);
      options.signal?.throwIfAborted();
    }
  } finally {
    await reading.catch(() => {});
  }
}

/** Events that were erased meanwhile are checked again. */
async function checkUnmatched(
  driver: Driver,
  { unmatched }: ChainVerifier,
): Promise<Finding | null> {
  for (const { position, orderId, eventId } of unmatched) {
    const [result] = await driver.batch([selectEventWithId(eventId)], "read");
    const row = result?.rows[0];
    if (row !== undefined && recordedEvent(row).orderId === orderId) continue;
    return finding(
      row === undefined ? position : recordedEvent(row).position,
      "altered",
      { code: "erased_event_altered" },
    );
  }
  return null;
}

async function readAnchor(
  anchor: VerifyOptions["anchor"],
): Promise<Pick<ChainReferences, "anchored" | "anchorDamage">> {
  const nothing = { head: null, resets: [] };
  try {
    return { anchored: await anchor?.record() ?? nothing, anchorDamage: null };
  } catch (error) {
    if (!(error instanceof LedgerError && error.code === "corrupt")) {
      throw error;
    }
    return { anchored: nothing, anchorDamage: error.message };
  }
}

/**
 * Reads events, and links without an event up to the last of them. More such
 * links than the limit are not needed: the first is what is wrong.
 */
async function readRows(
  driver: Driver,
  after: number,
  limit: number,
): Promise<Row[]> {
  const [events, orphans] = await driver.batch([
    selectEventsAfter(after, limit, true),
    selectOrphanLinks(after, limit),
  ], "read");
  const rows: Row[] = unpackEvents(events).map((one) => ({
    position: one.event.position,
    ...one,
  }));
  const end = rows.at(-1)?.position ?? Infinity;
  for (const [at] of orphans?.rows ?? []) {
    const position = at as number;
    if (position > end) break;
    rows.push({
      position,
      event: null,
      erased: null,
      commitment: null,
      hash: null,
    });
  }
  return rows.sort((a, b) => a.position - b.position);
}

/** An altered event that another link commits to was moved, not edited. */
async function recogniseMoved(
  driver: Driver,
  found: Finding,
): Promise<Finding> {
  if (found.commitment === undefined) return found;
  const [result] = await driver.batch(
    [selectPositionOf(found.commitment)],
    "read",
  );
  const home = result?.rows[0]?.[0];
  return home === undefined ? found : finding(
    found.position,
    "reordered",
    { code: "event_moved", from: Number(home) },
  );
}
