import type { Look, NodeProblem } from "./transfer.ts";

/** Health of a node of the partner. */
export interface NodeState {
  /** Network as the file of nodes names it, in lower case. */
  readonly network: string;
  /** The node's name. */
  readonly node: string;
  /** What is wrong with it; null while nothing is. */
  readonly problem: NodeProblem | null;
  /** Since when, UTC ISO 8601; null while nothing is. */
  readonly since: string | null;
}

/** Number of times in a row that a problem has to be met before it stands. */
const STANDS_AFTER: Readonly<Record<NodeProblem, number>> = {
  unreachable: 2,
  timeout: 2,
  refused: 2,
  rate_limited: 2,
  bad_answer: 2,
  wrong_chain: 1,
  syncing: 2,
  lagging: 2,
  no_index: 1,
  pruned: 1,
  // Of a young transaction nodes say different things in all honesty.
  says_otherwise: 3,
};

/** What only a look at a transaction shows, and so only another one clears. */
const OF_TRANSACTIONS: ReadonlySet<NodeProblem | null> = new Set<NodeProblem>([
  "no_index",
  "pruned",
  "says_otherwise",
]);

/**
 * How long a problem that such a look has shown stands without another look.
 */
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

  /**
   * Nothing was met yet.
   *
   * @param now Clock, milliseconds since 1970.
   */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Takes in a look at a transaction.
   *
   * @param network Network that was asked, in any case.
   * @param look What its nodes showed.
   */
  take(network: string, { evidence, final }: Look): void {
    for (const node of evidence.nodes) this.#add(network, node, null, 1);
    for (const { node, problem } of evidence.problems) {
      // Against what enough others hold for final, once is enough.
      const isLie = problem === "says_otherwise" && final;
      this.#add(network, node, problem, isLie ? STANDS_AFTER[problem] : 1);
    }
  }

  /**
   * Takes in what a node said of its newest block.
   *
   * @param problem What is wrong with it; null where nothing is.
   */
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
          times >= STANDS_AFTER[problem];
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
