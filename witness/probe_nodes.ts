import { newestOfCore, newestOfEsplora } from "./bitcoin_nodes.ts";
import type { Chain, ChainNode, Chains } from "./chains_file.ts";
import { newestOfEvm } from "./evm_node.ts";
import { type NewestBlock, NodeFailure } from "./finding.ts";
import { HttpNode, type HttpNodeOptions } from "./http_node.ts";
import { isLagging } from "./quorum.ts";
import type { NodeProblem } from "./transfer.ts";

/** A node, and what is wrong with it. */
export interface ProbedNode {
  /** Network as the file of nodes names it, in lower case. */
  readonly network: string;
  /** The node's name. */
  readonly node: string;
  /** What is wrong with it; null where nothing is. */
  readonly problem: NodeProblem | null;
}

/** How nodes are probed. */
export interface ProbeOptions {
  /** The nodes; see `readChains`. */
  readonly chains: Chains;
  /** Sends the requests. @default {the global one} */
  readonly fetch?: typeof fetch;
  /** The time, milliseconds since 1970. @default {the system's} */
  readonly now?: () => number;
  /** How long one node may take, in milliseconds. @default {15000} */
  readonly timeoutMs?: number;
  /**
   * Aborts it: a node that has not answered by then is `unreachable`.
   *
   * @default {never}
   */
  readonly signal?: AbortSignal;
}

/**
 * Asks each node which chain it serves and for its newest block: whether it
 * answers, serves the right chain and keeps up, before any order needs it.
 *
 * @param options The nodes, and how they are asked.
 * @returns Each node, by network. It never throws for what a node does.
 *
 * @example A node that nobody runs
 * ```ts
 * import { probeNodes } from "./probe_nodes.ts";
 * import { readChains } from "./chains_file.ts";
 * import assert from "node:assert/strict";
 *
 * const [probed] = await probeNodes({
 *   chains: readChains({
 *     bitcoin: { nodes: { own: "http://127.0.0.1:1" }, confirmations: 3 },
 *   }),
 * });
 * assert.equal(probed?.problem, "unreachable");
 * ```
 */
export async function probeNodes(
  { chains, fetch: send = fetch, now = Date.now, timeoutMs = 15_000, signal }:
    ProbeOptions,
): Promise<readonly ProbedNode[]> {
  const how = { fetch: send, timeoutMs, signal };
  const all = await Promise.all(
    [...chains.values()].map(async (chain) => {
      const newest = await Promise.all(
        chain.nodes.map((node) => newestOf(chain, node, how)),
      );
      const highest = Math.max(
        0,
        ...newest.map((one) => typeof one === "string" ? 0 : one.tip),
      );
      const rule = { blockMs: chain.blockMs, nowMs: now() };
      return chain.nodes.map(({ name: node }, at): ProbedNode => {
        const one = newest[at] ?? "bad_answer";
        const problem = typeof one === "string"
          ? one
          : isLagging(one, highest, rule)
          ? "lagging"
          : null;
        return { network: chain.network, node, problem };
      });
    }),
  );
  return all.flat();
}

async function newestOf(
  { chainId, genesis }: Chain,
  { address, kind }: ChainNode,
  options: HttpNodeOptions,
): Promise<NewestBlock | NodeProblem> {
  const node = new HttpNode(address, options);
  try {
    switch (kind) {
      case "evm":
        return await newestOfEvm(node, chainId);
      case "core":
        return await newestOfCore(node, genesis);
      case "esplora":
        return await newestOfEsplora(node, genesis);
    }
  } catch (error) {
    return error instanceof NodeFailure ? error.problem : "bad_answer";
  }
}
