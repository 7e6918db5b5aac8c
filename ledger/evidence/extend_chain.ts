import { hex } from "@scure/base";
import type { Driver } from "../store/driver/driver.ts";
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

/** Most events of one step, unless it is told otherwise. */
const STEP_EVENTS = 500;

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
 * @param driver The database of a ledger.
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
  const { pace, ...step } = options;
  for (;;) {
    const mostEvents = await pace?.() ?? Infinity;
    const { state, events } = await extendOnce(driver, origin, {
      ...step,
      limit: Math.min(step.limit ?? STEP_EVENTS, mostEvents),
    });
    if (events === 0) return state;
  }
}

/** What one step of extending the chain did. */
export interface ChainStep {
  /** How far the chain reaches after it. */
  readonly state: ChainState;
  /** How many events it took; 0 where there were none, or the chain is broken. */
  readonly events: number;
}

/**
 * Extends the chain by one step of {@linkcode extendChain}.
 *
 * @param options Step size and abort signal.
 * @throws {LedgerError} When the database fails.
 */
export function extendOnce(
  driver: Driver,
  origin: ChainOrigin,
  { limit = STEP_EVENTS, anchor, signal }: Omit<ExtendOptions, "pace">,
): Promise<ChainStep> {
  return retryLostRaces(async (mode) => {
    signal?.throwIfAborted();
    const { head, broken, more } = await readHead(driver, origin, {
      anchor,
      mode,
      also: [selectUnchained(limit)],
    });
    if (broken !== null) return { state: { ...head, broken }, events: 0 };
    await anchor?.save(head);
    const events = unpackEvents(more[0]);
    if (events.length === 0) return { state: { ...head, broken }, events: 0 };
    const links = linksAfter(head, events);
    await driver.batch([
      ...moveHead(head.position, links.head),
      insertLinks(links.positions, links.hashes),
    ], "write");
    return { state: { ...links.head, broken }, events: events.length };
  });
}

/** The links of the events that follow a head, and the head that they make. */
function linksAfter(
  head: ChainHead,
  events: readonly ChainedEvent[],
): {
  readonly head: ChainHead;
  readonly positions: readonly number[];
  readonly hashes: Uint8Array;
} {
  const hashes = new Uint8Array(events.length * 64);
  let hash = hex.decode(head.hash);
  const positions = events.map(({ event, erased }, at) => {
    const commitment = commitmentOf(event, erased);
    hash = linkHash(hash, event.position, commitment) as typeof hash;
    hashes.set(commitment, at * 64);
    hashes.set(hash, at * 64 + 32);
    return event.position;
  });
  return {
    head: {
      position: positions.at(-1) ?? head.position,
      events: head.events + events.length,
      hash: hex.encode(hash),
    },
    positions,
    hashes,
  };
}
