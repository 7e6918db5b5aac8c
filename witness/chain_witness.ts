import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { assetDecimals } from "../core/assets/assets.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { isNativeAsset } from "../core/chain/chain_network.ts";
import type { Verdict, VerdictReason } from "../core/chain/verdict.ts";
import { isDecimal } from "../core/decimal.ts";
import type { Chain, ChainNode, Chains } from "./chains_file.ts";
import { type NodeAnswer, NodeFailure } from "./finding.ts";
import {
  askCoreNode,
  askEsplora,
  type BitcoinTarget,
} from "./bitcoin_nodes.ts";
import { askEvmNode, type NodeFinding } from "./evm_node.ts";
import { HttpNode, type HttpNodeOptions } from "./http_node.ts";
import { agree, votesOf } from "./quorum.ts";
import type { ChainWitness, Look, TransferQuestion } from "./transfer.ts";
import { verdictOf, type VerdictRule } from "./verdict.ts";
import { whyNotAsked } from "./why_not_asked.ts";

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

/** What is asked of a network's nodes, and how their answers are taken. */
interface Plan {
  readonly ask: (node: HttpNode, kind: ChainNode["kind"]) => Promise<
    NodeFinding
  >;
  readonly rule: VerdictRule;
}

const TIMEOUT_MS = 15_000;

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
    timeoutMs = TIMEOUT_MS,
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
        return unasked("unsupported", why);
      }
      const plan = planOf(chain, question, assets);
      if (typeof plan === "string") return unasked("undecided", plan);
      const answers = await Promise.all(
        chain.nodes.map((node) =>
          askNode(node, plan, { fetch: send, timeoutMs, signal })
        ),
      );
      const votes = votesOf(
        answers.map((answer) => [
          answer,
          answer.problem === null
            ? verdictOf(answer.finding, question, plan.rule)
            : null,
        ]),
        { blockMs: chain.blockMs, nowMs: now() },
      );
      const { index, nodes, problems, ...agreed } = agree(votes, chain.quorum);
      return {
        ...agreed,
        evidence: {
          index,
          nodes,
          answers: digestOf(answers, nodes),
          tolerance: chain.tolerance.get(question.asset.toUpperCase()) ?? null,
          problems,
        },
      };
    },
  };
}

/** What to ask; else why nothing can be asked. */
function planOf(
  chain: Chain,
  question: TransferQuestion,
  assets: AssetTable,
): Plan | VerdictReason {
  const { network, asset, address, amount, smartContract = null } = question;
  const before = question.before ?? null;
  const statedDecimals = assetDecimals(assets, asset, network);
  const { confirmations } = chain;
  if (chain.family === "bitcoin") {
    if (address === null || address === "") return "address_not_stated";
    const txId = question.txId.toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(txId)) return "transaction_not_readable";
    const { genesis, prefix, nativeDecimals: chainDecimals } = chain;
    const target: BitcoinTarget = { genesis, prefix, txId, address, before };
    return {
      ask: (node, kind) =>
        kind === "esplora"
          ? askEsplora(node, target)
          : askCoreNode(node, target),
      rule: { chainDecimals, statedDecimals, confirmations },
    };
  }
  const native = isNativeAsset(network, asset);
  const token = chain.tokens.get(asset.toUpperCase()) ?? null;
  const txId = question.txId.toLowerCase();
  if (!/^0x[0-9a-f]{64}$/.test(txId)) return "transaction_not_readable";
  const whom = smartContract?.address ?? address;
  if (whom === null || !/^0x[0-9a-f]{40}$/i.test(whom)) {
    return "address_not_stated";
  }
  if (smartContract === null && (amount === null || !isDecimal(amount))) {
    return "amount_not_stated";
  }
  return {
    ask: (node) =>
      askEvmNode(node, {
        chainId: chain.chainId,
        txId,
        address: whom,
        token: native ? null : token?.contract ?? null,
        call: smartContract,
        before,
      }),
    rule: {
      chainDecimals: native ? chain.nativeDecimals : token?.decimals ?? 18,
      statedDecimals,
      confirmations,
    },
  };
}

async function askNode(
  { name, address, kind }: ChainNode,
  { ask }: Plan,
  options: HttpNodeOptions,
): Promise<NodeAnswer> {
  const node = new HttpNode(address, options);
  try {
    const found = await ask(node, kind);
    return { ...found, node: name, problem: null, raw: node.raw };
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error;
    const { problem } = error;
    return { node: name, problem, finding: null, raw: node.raw };
  }
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

function unasked(verdict: Verdict, reason: VerdictReason | null): Look {
  return {
    verdict,
    reason,
    arrived: null,
    confirmations: null,
    final: false,
    block: null,
    evidence: {
      index: null,
      nodes: [],
      answers: null,
      tolerance: null,
      problems: [],
    },
  };
}
