import { hex } from "@scure/base";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { insertLinks, moveHead } from "../store/tables/chain.ts";
import { type ChainOrigin, linkHash } from "../hashes/chain_hash.ts";
import { type ChainState, readHead } from "./chain_head.ts";
import { commitmentOf } from "../hashes/commitment.ts";
import type { HeadAnchor } from "./head_anchor.ts";
import type { ChainHead } from "../hashes/anchored_head.ts";
import {
  type ChainedEvent,
  selectUnchained,
  unpackEvents,
} from "../store/tables/events/chained_events.ts";

/** How the chain is extended. */
export interface ExtendOptions {
  /**
   * Stores the head outside the database. A chain that does not contain the
   * anchored head was truncated or replaced, and is not extended.
   */
  readonly anchor?: HeadAnchor | undefined;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
  /**
   * Awaited before each step, so that more urgent work on the same database can
   * go first. Resolves to the most events the step may process.
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
 * Extends the chain until it reaches the last event. Several processes may do
 * so at once: each step is guarded by the position it starts from, and the
 * second one continues where the first left off.
 *
 * @param driver A database that has been migrated.
 * @param origin The ledger.
 * @param options Step size and abort signal.
 * @throws {LedgerError} When the database fails.
 *
 * @example Extend after appending
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { extendChain } from "./extend_chain.ts";
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
): Promise<ChainState> {
  const { limit = 500, pace, anchor, signal } = options;
  for (;;) {
    const mostEvents = await pace?.() ?? Infinity;
    const state = await retryLostRaces(async (mode) => {
      signal?.throwIfAborted();
      const { head, broken, more } = await readHead(driver, origin, {
        anchor,
        mode,
        also: [selectUnchained(Math.min(limit, mostEvents))],
      });
      if (broken !== null) return { ...head, broken };
      await anchor?.save(head);
      const events = unpackEvents(more[0]);
      if (events.length === 0) return { ...head, broken };
      await driver.batch(linkRows(head, events), "write");
      return null;
    });
    if (state !== null) return state;
  }
}

/** The head, then all links of the step in one statement. */
function linkRows(
  head: ChainHead,
  events: readonly ChainedEvent[],
): Statement[] {
  const links = new Uint8Array(events.length * 64);
  let hash = hex.decode(head.hash);
  const positions = events.map(({ event, erased }, at) => {
    const commitment = commitmentOf(event, erased);
    hash = linkHash(hash, event.position, commitment) as typeof hash;
    links.set(commitment, at * 64);
    links.set(hash, at * 64 + 32);
    return event.position;
  });
  return [
    ...moveHead(head.position, {
      position: positions.at(-1) ?? head.position,
      events: head.events + events.length,
      hash: hex.encode(hash),
    }),
    insertLinks(positions, links),
  ];
}
