import { core, esplora } from "./bitcoin_nodes.ts";
import type { Chain } from "./chains_file.ts";
import { evm } from "./evm_node.ts";
import {
  HttpNode,
  type HttpNodeOptions,
  NodeFailure,
  problemOf,
} from "./http_node.ts";
import type { Answered, ChainReader } from "./verdict.ts";

const READERS = { evm, core, esplora } as const;

/** Asks each node of a chain at once. It never throws for what a node does. */
export function askEach<Result>(
  chain: Chain,
  options: HttpNodeOptions,
  ask: (reader: ChainReader) => Promise<Result>,
): Promise<readonly Answered<Result>[]> {
  return Promise.all(chain.nodes.map(async ({ name, address, kind }) => {
    const node = new HttpNode(address, options);
    const reader = READERS[kind](node, chain);
    try {
      if (!await reader.isOfChain()) throw new NodeFailure("wrong_chain");
      const found = await ask(reader);
      return { ...found, node: name, raw: node.raw, problem: null };
    } catch (error) {
      return { node: name, raw: node.raw, problem: problemOf(error) };
    }
  }));
}
