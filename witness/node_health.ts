/** What is wrong with each node, by what looks and questions of our own show. */
import { askEach } from "./ask_nodes.ts";
import type { Chains } from "./chains_file.ts";
import type { Look, NodeProblem } from "./transfer.ts";
import { highestTip, isLagging } from "./verdict.ts";

/** A node, and what is wrong with it. */
export interface ProbedNode {
  /** Network as the file of nodes names it, in lower case. */
  readonly network: string;
  readonly node: string;
  /** Null where nothing is. */
  readonly problem: NodeProblem | null;
}

export interface ProbeOptions {
  readonly chains: Chains;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
  /** How long one node may take. @default {15000} */
  readonly timeoutMs?: number;
  /** A node that has not answered by then is `unreachable`. */
  readonly signal?: AbortSignal;
}

/**
 * Asks each node which chain it serves and for its newest block: whether it
 * answers, serves the right chain and keeps up, before any order needs it.
 */
export async function probeNodes(
  { chains, fetch: send = fetch, now = Date.now, timeoutMs = 15_000, signal }:
    ProbeOptions,
): Promise<readonly ProbedNode[]> {
  const how = { fetch: send, timeoutMs, signal };
  const all = await Promise.all([...chains.values()].map(async (chain) => {
    const answers = await askEach(chain, how, (reader) => reader.newest());
    const highest = highestTip(answers);
    const rule = { blockMs: chain.blockMs, nowMs: now() };
    return answers.map((one): ProbedNode => ({
      network: chain.network,
      node: one.node,
      problem: one.problem ??
        (isLagging(one, highest, rule) ? "lagging" : null),
    }));
  }));
  return all.flat();
}

/** Health of a node of the partner. */
export interface NodeState extends ProbedNode {
  /** Since when something is wrong, UTC ISO 8601; null while nothing is. */
  readonly since: string | null;
}

/** How often in a row a problem has to be met before it stands, if not twice. */
const STANDS_AFTER: Readonly<Partial<Record<NodeProblem, number>>> = {
  wrong_chain: 1,
  no_index: 1,
  pruned: 1,
  // Of a young transaction nodes say different things in all honesty.
  says_otherwise: 3,
};

function standsAfter(problem: NodeProblem): number {
  return STANDS_AFTER[problem] ?? 2;
}

/** What only a look at a transaction shows, and so only another one clears. */
const OF_TRANSACTIONS: ReadonlySet<NodeProblem | null> = new Set<NodeProblem>([
  "no_index",
  "pruned",
  "says_otherwise",
]);

/** How long a problem that such a look has shown stands without another look. */
const SHOWN_FOR_MS = 24 * 3_600_000;

/** What was last met of a node. */
interface Met {
  readonly problem: NodeProblem | null;
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly times: number;
}

/**
 * Remembers the health of each node, by looks at transactions and questions for
 * its newest block. What happens once, and is over the next time, does not
 * stand.
 */
export class NodeWatch {
  readonly #now: () => number;
  readonly #met = new Map<string, Met>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes in a look at a transaction. */
  take(network: string, { evidence, final }: Look): void {
    for (const node of evidence.nodes) this.#add(network, node, null, 1);
    for (const { node, problem } of evidence.problems) {
      // Against what enough others hold for final, once is enough.
      const isLie = problem === "says_otherwise" && final;
      this.#add(network, node, problem, isLie ? standsAfter(problem) : 1);
    }
  }

  /** Takes in what a node said of its newest block. */
  probed(network: string, node: string, problem: NodeProblem | null): void {
    const met = this.#met.get(keyOf(network, node));
    if (problem === null && OF_TRANSACTIONS.has(met?.problem ?? null)) return;
    this.#add(network, node, problem, 1);
  }

  /** Health of each node that was asked, by network and name. */
  states(): readonly NodeState[] {
    return [...this.#met].sort(([a], [b]) => a < b ? -1 : 1).map(
      ([key, { problem, sinceMs, lastMs, times }]) => {
        const [network = "", node = ""] = key.split("/");
        const isOld = OF_TRANSACTIONS.has(problem) &&
          this.#now() - lastMs > SHOWN_FOR_MS;
        const stands = problem !== null && !isOld &&
          times >= standsAfter(problem);
        return {
          network,
          node,
          problem: stands ? problem : null,
          since: stands ? new Date(sinceMs).toISOString() : null,
        };
      },
    );
  }

  #add(
    network: string,
    node: string,
    problem: NodeProblem | null,
    times: number,
  ): void {
    const key = keyOf(network, node);
    const met = this.#met.get(key);
    const lastMs = this.#now();
    this.#met.set(
      key,
      met?.problem === problem
        ? { ...met, lastMs, times: met.times + times }
        : { problem, sinceMs: lastMs, lastMs, times },
    );
  }
}

function keyOf(network: string, node: string): string {
  return `${network.toLowerCase()}/${node}`;
}
