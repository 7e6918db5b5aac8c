import type { RecordedEvent } from "../event/event.ts";
import type { Driver, ResultSet, Statement } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import {
  type ChainOrigin,
  commitmentOf,
  genesisHash,
  linkHash,
} from "./chain.ts";
import { type ChainedEvent, packed, unpacked } from "./_packed_events.ts";

/** How far the evidence chain reaches. */
export interface ChainHead {
  /** Position of the last event in the chain; 0 when there is none. */
  readonly position: number;
  /** Number of events in the chain. */
  readonly events: number;
  /** Hash of the last event, 64 hex digits: with `events`, what to keep elsewhere. */
  readonly hash: string;
}

/** How the chain is extended. */
export interface ExtendOptions {
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
  /**
   * Waited for before each step, so that more urgent work on the same database
   * can go first. Resolves to the most events the step may take.
   */
  readonly pace?: () => Promise<number>;
  /**
   * Most events of one step; fewer where bodies are large.
   *
   * @default 500
   */
  readonly limit?: number;
}

/**
 * Reads how far the chain reaches.
 *
 * @param driver A database that has been migrated.
 * @param origin The ledger.
 *
 * @example Print what to keep elsewhere
 * ```ts
 * import { chainHead, openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 *   worker: false,
 * });
 * const origin = { environment: "sandbox", ledgerId: "0".repeat(32) };
 * const { events, hash } = await chainHead(ledger.driver, origin);
 * assert.match(`${events}:${hash}`, /^0:[0-9a-f]{64}$/);
 * ```
 */
export async function chainHead(
  driver: Driver,
  origin: ChainOrigin,
): Promise<ChainHead> {
  const [result] = await driver.batch([selectHead], "read");
  return headOf(result, origin);
}

/**
 * Extends the chain until it reaches the last event. Several processes may do
 * so at once: each step is guarded by the position it starts from, and the
 * one that comes second goes on from where the first left off.
 *
 * @param driver A database that has been migrated.
 * @param origin The ledger.
 * @param options Step size and abort signal.
 * @throws {LedgerError} When the database fails.
 *
 * @example Extend after appending
 * ```ts
 * import { extendChain, openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 *   worker: false,
 * });
 * await ledger.recordSession({ session_id: "5f0c6a0e", flow_type: "simple" });
 * const origin = { environment: "sandbox", ledgerId: "0".repeat(32) };
 * const head = await extendChain(ledger.driver, origin);
 * assert.equal(head.events, 1);
 * ```
 */
export async function extendChain(
  driver: Driver,
  origin: ChainOrigin,
  options: ExtendOptions = {},
): Promise<ChainHead> {
  const { limit = 500, pace } = options;
  let lostRaces = 0;
  for (;;) {
    const mostEvents = await pace?.() ?? Infinity;
    options.signal?.throwIfAborted();
    // After a lost race the read goes to the primary: a replica may be behind.
    const mode = lostRaces === 0 ? "read" : "write";
    const [headRow, rows] = await driver.batch([
      selectHead,
      { sql: selectAfterHead, args: [Math.min(limit, mostEvents)] },
    ], mode);
    const head = headOf(headRow, origin);
    const events = unpacked(rows);
    if (events.length === 0) return head;
    try {
      await driver.batch(linkRows(head, events), "write");
      lostRaces = 0;
    } catch (error) {
      const lost = error instanceof LedgerError && error.code === "constraint";
      if (!lost || ++lostRaces > 100) throw error;
    }
  }
}

const selectHead: Statement = {
  sql: "SELECT position, events, hash FROM chain_checkpoint",
  args: [],
};

const selectAfterHead = packed({
  after: "coalesce((SELECT position FROM chain_checkpoint), 0)",
  limit: "?1",
  columns: "(SELECT commitment FROM erasures " +
    "WHERE erasures.position = events.position) AS commitment, NULL AS hash",
});

function headOf(
  result: ResultSet | undefined,
  origin: ChainOrigin,
): ChainHead {
  const row = result?.rows[0];
  if (row === undefined) {
    return { position: 0, events: 0, hash: genesisHash(origin).toHex() };
  }
  return {
    position: row[0] as number,
    events: row[1] as number,
    hash: row[2] as string,
  };
}

/** The guard, then all links of the step in one statement. */
function linkRows(
  head: ChainHead,
  events: readonly ChainedEvent[],
): Statement[] {
  const links = new Uint8Array(events.length * 64);
  let hash = Uint8Array.fromHex(head.hash);
  const positions = events.map(({ event, commitment: stored }, at) => {
    const commitment = storedOrComputed(event, stored);
    hash = linkHash(hash, event, commitment) as typeof hash;
    links.set(commitment, at * 64);
    links.set(hash, at * 64 + 32);
    return event.position;
  });
  return [
    moveHead(head.position, {
      position: positions.at(-1) ?? head.position,
      events: head.events + events.length,
      hash: hash.toHex(),
    }),
    {
      sql: "INSERT INTO chain (position, commitment, hash) " +
        "SELECT value, substr(?1, key * 64 + 1, 32), " +
        "substr(?1, key * 64 + 33, 32) FROM json_each(?2)",
      args: [links, JSON.stringify(positions)],
    },
  ];
}

/** Puts NULL where none may be, and so undoes the batch, if the head moved. */
function moveHead(expected: number, next: ChainHead): Statement {
  return {
    sql: "INSERT INTO chain_checkpoint (id, position, events, hash) " +
      "SELECT 1, CASE WHEN coalesce((SELECT position FROM chain_checkpoint), 0)" +
      " = ? THEN ? END, ?, ? WHERE true ON CONFLICT (id) DO UPDATE SET " +
      "position = excluded.position, events = excluded.events, " +
      "hash = excluded.hash",
    args: [expected, next.position, next.events, next.hash],
  };
}

function storedOrComputed(
  event: RecordedEvent,
  stored: Uint8Array | null,
): Uint8Array {
  const { position, body, digest, salt } = event;
  if (body !== null && digest !== null && salt !== null) {
    return commitmentOf({ body, digest, salt });
  }
  if (stored !== null) return stored;
  throw new LedgerError(
    "corrupt",
    `Cannot chain position ${position}: its body is gone, and with no ` +
      "record of an erasure; restore a backup",
  );
}
