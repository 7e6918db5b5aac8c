import type { Driver, SqlValue } from "../store/driver.ts";
import type { ChainOrigin } from "./chain.ts";
import { packed, unpacked } from "./_packed_events.ts";
import { type Finding, finding, type Row } from "./_check_event.ts";
import type { Verification, VerifyOptions } from "./verification.ts";
import { type Head, Walk } from "./_walk.ts";

export type { Damage, Verification, VerifyOptions } from "./verification.ts";

/**
 * Computes the whole chain again, and everything that bodies determine, and
 * stops at the first thing wrong. Events appended meanwhile do not disturb it.
 *
 * @param driver A database that has been migrated.
 * @param origin The ledger.
 * @param options What to hold the chain against.
 * @throws {LedgerError} When the database fails.
 *
 * @example Verify against what was kept elsewhere
 * ```ts
 * import { extendChain, openLedger, verifyChain } from "@rampkit/onramp/ledger";
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
  const walk = new Walk(origin, await readHead(driver), options.expect);
  const limit = options.limit ?? 500;
  let reading = readWindow(driver, 0, limit);
  try {
    for (;;) {
      const rows = await reading;
      const last = rows.at(-1);
      if (last === undefined) return walk.end();
      // The database reads on while these are looked at.
      reading = readWindow(driver, last.position, limit);
      // Awaited at the end of this turn; until then nobody listens.
      reading.catch(() => {});
      for (const row of rows) {
        const found = walk.step(row);
        if (found !== null) {
          return walk.broken(await namedAsMoved(driver, found));
        }
      }
      options.onProgress?.(walk.events);
      options.signal?.throwIfAborted();
    }
  } finally {
    await reading.catch(() => {});
  }
}

async function readHead(driver: Driver): Promise<Head | null> {
  const [result] = await driver.batch([{
    sql: "SELECT position, events, hash FROM chain_checkpoint",
    args: [],
  }], "read");
  const row = result?.rows[0];
  return row === undefined ? null : {
    position: row[0] as number,
    events: row[1] as number,
    hash: row[2] as string,
  };
}

const selectEvents = packed({
  after: "?1",
  limit: "?2",
  columns: "chain.commitment, chain.hash",
  join: "LEFT JOIN chain USING (position)",
});

const selectOrphans =
  "SELECT position FROM chain WHERE position > ? AND NOT EXISTS " +
  "(SELECT 1 FROM events WHERE events.position = chain.position) " +
  "ORDER BY position LIMIT ?";

/**
 * Events, and links without an event up to the last of them. Of more such links
 * than the limit the first will do: it is what is wrong.
 */
async function readWindow(
  driver: Driver,
  after: number,
  limit: number,
): Promise<Row[]> {
  const [events, orphans] = await driver.batch([
    { sql: selectEvents, args: [after, limit] },
    { sql: selectOrphans, args: [after, limit] },
  ], "read");
  const rows: Row[] = unpacked(events).map((one) => ({
    position: one.event.position,
    ...one,
  }));
  const end = rows.at(-1)?.position ?? Infinity;
  for (const [at] of orphans?.rows ?? []) {
    const position = at as number;
    if (position > end) break;
    rows.push({ position, event: null, commitment: null, hash: null });
  }
  return rows.sort((a, b) => a.position - b.position);
}

/** An altered body that belongs to another link was moved, not edited. */
async function namedAsMoved(driver: Driver, found: Finding): Promise<Finding> {
  if (found.commitment === undefined) return found;
  const [result] = await driver.batch([{
    sql: "SELECT position FROM chain WHERE commitment = ?",
    args: [found.commitment] satisfies SqlValue[],
  }], "read");
  const home = result?.rows[0]?.[0];
  return home === undefined ? found : finding(
    found.position,
    "reordered",
    `The event stood at position ${home}`,
  );
}
