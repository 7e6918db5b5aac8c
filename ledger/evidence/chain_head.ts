import { hex } from "@scure/base";
import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import { type ChainOrigin, genesisHash } from "../hashes/chain_hash.ts";
import { headOf, selectHead, selectLinkHash } from "../store/tables/chain.ts";
import type { HeadAnchor } from "./head_anchor.ts";
import type { AnchoredHead, ChainHead } from "../hashes/anchored_head.ts";

/**
 * How far the chain reaches, and whether it continues from the anchored head.
 */
export interface ChainState extends ChainHead {
  /**
   * Why the chain is not extended: it does not continue from the anchored head.
   * Null when it does, or none is anchored.
   */
  readonly broken: ChainBreak | null;
}

/**
 * Reads how far the chain reaches.
 *
 * @param driver The database of a ledger.
 * @param origin The ledger.
 * @param anchor The head kept outside the database.
 * @throws {LedgerError} When the database fails.
 *
 * @example Print what to keep elsewhere
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { chainHead } from "./chain_head.ts";
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
  anchor?: HeadAnchor,
): Promise<ChainState> {
  const { head, broken } = await readHead(driver, origin, { anchor });
  return { ...head, broken };
}

/**
 * Reads how far the chain reaches, and whether it contains its anchored head.
 *
 * @param origin The ledger.
 * @param how The anchor, and what else to read at the same moment.
 */
export async function readHead(
  driver: Driver,
  origin: ChainOrigin,
  { anchor, mode = "read", also = [] }: {
    readonly anchor: HeadAnchor | undefined;
    readonly mode?: "read" | "write";
    readonly also?: readonly Statement[];
  },
): Promise<{
  readonly head: ChainHead;
  readonly broken: ChainBreak | null;
  readonly more: readonly ResultSet[];
}> {
  for (let afresh = false;; afresh = true) {
    const anchored = await anchor?.head(afresh) ?? null;
    const [headRow, link, ...more] = await driver.batch([
      selectHead,
      selectLinkHash(anchored?.position ?? 0),
      ...also,
    ], mode);
    const head = headOf(headRow) ??
      { position: 0, events: 0, hash: hex.encode(genesisHash(origin)) };
    const hash = link?.rows[0]?.[0];
    const broken = anchored === null
      ? null
      : chainBreak(anchored, origin, hash instanceof Uint8Array ? hash : null);
    // A restore may have given up the anchor that this process knows.
    if (broken === null || afresh) return { head, broken, more };
  }
}

/**
 * Finds out why a chain does not contain its anchored head.
 *
 * @param anchored The head.
 * @param origin The ledger.
 * @param hash Hash of the link at the head's position; null where none is.
 * @returns Null when it does.
 */
function chainBreak(
  anchored: AnchoredHead,
  { ledgerId }: ChainOrigin,
  hash: Uint8Array | null,
): ChainBreak | null {
  if (anchored.ledgerId !== ledgerId) {
    return { code: "other_ledger", ledgerId: anchored.ledgerId };
  }
  if (hash !== null && hex.encode(hash) === anchored.hash) return null;
  const { events, position, anchoredAt } = anchored;
  const code = hash === null ? "link_gone" : "link_replaced";
  return { code, events, position, anchoredAt };
}

/**
 * Reads the head that the database has of the chain.
 *
 * @returns Null before the first link.
 */
export async function readStoredHead(
  driver: Driver,
): Promise<ChainHead | null> {
  const [result] = await driver.batch([selectHead], "read");
  return headOf(result);
}

/** Why the evidence chain does not continue from its anchored head. */
export type ChainBreak =
  | {
    /** The head is of another ledger: this one was put in its place. */
    readonly code: "other_ledger";
    /** Identifier of that ledger. */
    readonly ledgerId: string;
  }
  | {
    /**
     * - `link_gone`: the chain has no link at the head's position.
     * - `link_replaced`: it has another link there.
     */
    readonly code: "link_gone" | "link_replaced";
    /** Events by the head. */
    readonly events: number;
    /** Position of the head. */
    readonly position: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
  };
