import { sha256 } from "./sha256.ts";

/** What the evidence chain begins with: no two ledgers share a beginning. */
export interface ChainOrigin {
  /** Environment stamped on the ledger. */
  readonly environment: string;
  /** Identity of the ledger, 32 hex digits. */
  readonly ledgerId: string;
}

/**
 * Hash before the first event.
 *
 * @param origin The ledger.
 * @returns 32 bytes.
 *
 * @example Begin a chain
 * ```ts
 * import { genesisHash } from "./chain_hash.ts";
 * import assert from "node:assert/strict";
 *
 * const hash = genesisHash({
 *   environment: "sandbox",
 *   ledgerId: "00000000000000000000000000000000",
 * });
 * assert.equal(hash.byteLength, 32);
 * ```
 */
export function genesisHash(origin: ChainOrigin): Uint8Array {
  return sha256("rampkit/genesis/1", [
    origin.environment,
    origin.ledgerId,
  ]);
}

/**
 * Hash of one event, linked to the one before: covers the previous hash, the
 * position, and through its commitment everything else. So the chain still
 * verifies whatever is erased of an event.
 *
 * @param previous Hash of the previous existing event, or the genesis hash.
 * @param position Position of the event.
 * @param commitment {@linkcode commitmentOf} the event.
 * @returns 32 bytes.
 *
 * @example Extend a chain by one
 * ```ts
 * import { linkHash } from "./chain_hash.ts";
 * import assert from "node:assert/strict";
 *
 * const hash = linkHash(new Uint8Array(32), 1, new Uint8Array(32));
 * assert.equal(hash.byteLength, 32);
 * ```
 */
export function linkHash(
  previous: Uint8Array,
  position: number,
  commitment: Uint8Array,
): Uint8Array {
  return sha256("rampkit/link/1", [previous, String(position), commitment]);
}
