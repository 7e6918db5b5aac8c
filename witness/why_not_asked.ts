import { chainNetwork, isNativeAsset } from "../core/chain/chain_network.ts";
import type { VerdictReason } from "../core/chain/verdict.ts";
import type { Chains } from "./chains_file.ts";

/** Why nobody can be asked about the transactions of a pair. */
export type NotAskedReason = Extract<
  VerdictReason,
  "network_not_supported" | "network_not_configured" | "token_not_pinned"
>;

/** What is to be looked at. */
export interface AskedPair {
  /** Network as in the asset tables, in any case. */
  readonly network: string;
  /** Asset code, in any case. */
  readonly asset: string;
  /**
   * Whether it is a smart-contract order: its call is looked at, and no token.
   *
   * @default {false}
   */
  readonly isContract?: boolean;
}

/**
 * Why the nodes cannot be asked about the transactions of a pair.
 *
 * @param chains The networks that can be asked; see `readChains`.
 * @param pair The pair.
 * @returns Null where they can.
 *
 * @example A token whose contract is not pinned
 * ```ts
 * import { readChains, whyNotAsked } from "@rampkit/onramp/witness";
 * import assert from "node:assert/strict";
 *
 * const chains = readChains({
 *   base: { nodes: { own: "http://127.0.0.1:8545" }, confirmations: 30 },
 * });
 * const why = (network: string, asset: string) =>
 *   whyNotAsked(chains, { network, asset });
 * assert.equal(why("base", "ETH"), null);
 * assert.equal(why("base", "USDC"), "token_not_pinned");
 * assert.equal(why("polygon", "POL"), "network_not_configured");
 * assert.equal(why("solana", "SOL"), "network_not_supported");
 * ```
 */
export function whyNotAsked(
  chains: Chains,
  { network, asset, isContract = false }: AskedPair,
): NotAskedReason | null {
  const chain = chains.get(network.toLowerCase());
  if (chain === undefined) {
    return chainNetwork(network) === null
      ? "network_not_supported"
      : "network_not_configured";
  }
  const isKnown = chain.family === "bitcoin" || isContract ||
    isNativeAsset(network, asset) || chain.tokens.has(asset.toUpperCase());
  return isKnown ? null : "token_not_pinned";
}
