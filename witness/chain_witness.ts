import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { assetDecimals } from "../core/assets/assets.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { chainNetwork, isNativeAsset } from "../core/chain/chain_network.ts";
import type { VerdictReason } from "../core/chain/verdict.ts";
import { isDecimal } from "../core/decimal.ts";
import { askEach } from "./ask_nodes.ts";
import type { Chain, Chains } from "./chains_file.ts";
import type { ChainWitness, Look, TransferQuestion } from "./transfer.ts";
import {
  agree,
  lookWith,
  type NodeAnswer,
  type Target,
  verdictOf,
  type VerdictRule,
  votesOf,
} from "./verdict.ts";

/** What a witness works with. */
export interface ChainWitnessOptions {
  /** The nodes; see `readChains`. */
  readonly chains: Chains;
  /** Asset table of the environment. @default {"production"} */
  readonly assets?: AssetTable;
  /** Sends the requests. @default {the global one} */
  readonly fetch?: typeof fetch;
  /** The time, milliseconds since 1970. @default {the system's} */
  readonly now?: () => number;
  /** How long one node may take for a look, in milliseconds. @default {15000} */
  readonly timeoutMs?: number;
}

/**
 * A witness that asks the partner's own nodes. It knows no other ones.
 *
 * @param options The nodes, and what it works with.
 * @returns The witness.
 *
 * @example A token that is not pinned is not looked for
 * ```ts
 * import { createChainWitness, readChains } from "@rampkit/onramp/witness";
 * import assert from "node:assert/strict";
 *
 * const witness = createChainWitness({
 *   chains: readChains({
 *     polygon: { nodes: { own: "http://127.0.0.1:8545" }, confirmations: 64 },
 *   }),
 * });
 * const look = await witness.look({
 *   network: "polygon",
 *   asset: "USDC",
 *   txId: `0x${"5".repeat(64)}`,
 *   address: `0x${"a".repeat(40)}`,
 *   amount: "25",
 * });
 * assert.equal(look.verdict, "unsupported");
 * assert.equal(look.reason, "token_not_pinned");
 * ```
 */
export function createChainWitness(
  options: ChainWitnessOptions,
): ChainWitness {
  const {
    chains,
    assets = "production",
    now = Date.now,
    timeoutMs = 15_000,
    fetch: send = fetch,
  } = options;
  return {
    async look(
      question: TransferQuestion,
      signal?: AbortSignal,
    ): Promise<Look> {
      const { network, asset, smartContract = null } = question;
      const isContract = smartContract !== null;
      const why = whyNotAsked(chains, { network, asset, isContract });
      const chain = chains.get(network.toLowerCase());
      if (chain === undefined || why !== null) {
        return { ...UNASKED, verdict: "unsupported", reason: why };
      }
      const target = targetOf(chain, question);
      if (typeof target === "string") {
        return { ...UNASKED, verdict: "undecided", reason: target };
      }
      const how = { fetch: send, timeoutMs, signal };
      const answers = await askEach(
        chain,
        how,
        (reader) => lookWith(reader, target),
      );
      const rule = ruleOf(chain, asset, assets);
      const votes = votesOf(
        answers,
        (finding) => verdictOf(finding, question, rule),
        { blockMs: chain.blockMs, nowMs: now() },
      );
      const { index, nodes, problems, ...agreed } = agree(votes, chain.quorum);
      const tolerance = chain.tolerance.get(asset.toUpperCase()) ?? null;
      const digest = digestOf(answers, nodes);
      return {
        ...agreed,
        evidence: { index, nodes, answers: digest, tolerance, problems },
      };
    },
  };
}

const UNASKED = {
  ...{ arrived: null, confirmations: null, final: false, block: null },
  evidence: {
    ...{ index: null, nodes: [], answers: null, tolerance: null, problems: [] },
  },
} as const;

/** What to look for; else why there is nothing to look for. */
function targetOf(
  chain: Chain,
  question: TransferQuestion,
): Target | VerdictReason {
  const { network, asset, address, amount } = question;
  const { smartContract: call = null, before = null } = question;
  const txId = question.txId.toLowerCase();
  if (chain.family === "bitcoin") {
    if (!address) return "address_not_stated";
    if (!/^[0-9a-f]{64}$/.test(txId)) return "transaction_not_readable";
    return { txId, address, token: null, call: null, before };
  }
  if (!/^0x[0-9a-f]{64}$/.test(txId)) return "transaction_not_readable";
  const whom = call?.address ?? address;
  if (whom === null || !/^0x[0-9a-f]{40}$/i.test(whom)) {
    return "address_not_stated";
  }
  if (call === null && (amount === null || !isDecimal(amount))) {
    return "amount_not_stated";
  }
  const token = isNativeAsset(network, asset)
    ? null
    : chain.tokens.get(asset.toUpperCase())?.contract ?? null;
  return { txId, address: whom, token, call, before };
}

function ruleOf(chain: Chain, asset: string, table: AssetTable): VerdictRule {
  const { network, family, nativeDecimals, confirmations, tokens } = chain;
  const isNative = family === "bitcoin" || isNativeAsset(network, asset);
  return {
    chainDecimals: isNative
      ? nativeDecimals
      : tokens.get(asset.toUpperCase())?.decimals ?? nativeDecimals,
    statedDecimals: assetDecimals(table, asset, network),
    confirmations,
  };
}

/** A digest of what the nodes that agree answered, in the order of their names. */
function digestOf(
  answers: readonly NodeAnswer[],
  nodes: readonly string[],
): string | null {
  if (nodes.length === 0) return null;
  const agreeing = answers.filter(({ node }) => nodes.includes(node))
    .sort((a, b) => a.node < b.node ? -1 : 1)
    .map(({ node, raw }) => `${node}\n${raw}`);
  return bytesToHex(sha256(new TextEncoder().encode(agreeing.join("\n\n"))));
}

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
