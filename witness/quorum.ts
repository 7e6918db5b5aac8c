import type { NodeAnswer } from "./finding.ts";
import type { Look, NodeProblem, NodeTrouble } from "./transfer.ts";
import type { NodeVerdict } from "./verdict.ts";

/** A node's verdict, or what is wrong with the node. */
export interface Vote {
  /** The node's name. */
  readonly node: string;
  /** What is wrong with it; null where its verdict counts. */
  readonly problem: NodeProblem | null;
  /** Its verdict; null where it has none. */
  readonly verdict: NodeVerdict | null;
}

/** Verdict of a quorum, without what only the answers' text can say. */
export type Agreed = Omit<Look, "evidence"> & {
  readonly index: number | null;
  readonly nodes: readonly string[];
  readonly problems: readonly NodeTrouble[];
};

/** When the newest block of a node is too old to be trusted. */
export interface LagRule {
  /** Time between two blocks, in milliseconds. */
  readonly blockMs: number;
  /** The time now, milliseconds since 1970. */
  readonly nowMs: number;
}

/** Blocks by which one node may be behind another, and its block may be old. */
const BLOCKS_BEHIND = 20;
/** How long a chain may pause without anything being wrong. */
const LEAST_LAG_MS = 10 * 60_000;

/**
 * Whether a node is behind: its newest block is old, or far below another's.
 *
 * @param answer What the node said.
 * @param highest Height of the newest block that any node knows.
 * @param rule What is too old.
 */
export function isLagging(
  { tip, tipMs }: { readonly tip: number; readonly tipMs: number },
  highest: number,
  { blockMs, nowMs }: LagRule,
): boolean {
  return highest - tip > BLOCKS_BEHIND ||
    nowMs - tipMs > Math.max(LEAST_LAG_MS, BLOCKS_BEHIND * blockMs);
}

/**
 * Which verdicts count. A node that lags may say that something arrived, and
 * nothing against an order: it may not have read that far yet.
 *
 * @param answers What each node said, with its verdict.
 * @param rule What is too old.
 * @returns A vote for each node.
 */
export function votesOf(
  answers: readonly (readonly [NodeAnswer, NodeVerdict | null])[],
  rule: LagRule,
): readonly Vote[] {
  const highest = Math.max(
    0,
    ...answers.map(([answer]) => answer.problem === null ? answer.tip : 0),
  );
  return answers.map(([answer, verdict]) => {
    const { node, problem } = answer;
    if (answer.problem !== null) return { node, problem, verdict: null };
    const lags = verdict?.verdict !== "delivered" &&
      isLagging(answer, highest, rule);
    return lags
      ? { node, problem: "lagging", verdict: null }
      : { node, problem: null, verdict };
  });
}

/**
 * What enough nodes agree on. Pure.
 *
 * They agree where verdict, amount, block and place are the same; it is as deep
 * as the least of them says. Two groups that are both large enough are not a
 * quorum.
 *
 * @param votes A vote for each node.
 * @param quorum How many nodes have to agree.
 * @returns What they agree on, else `undecided`, or `wrong_chain`.
 */
export function agree(votes: readonly Vote[], quorum: number): Agreed {
  const counted = votes.filter(({ verdict }) => verdict !== null);
  const groups = [...Map.groupBy(counted, ({ verdict }) => sameness(verdict))]
    .map(([, group]) => group);
  const large = groups.filter((group) => group.length >= quorum);
  const [group, another] = large;
  if (group === undefined || another !== undefined) {
    return undecided(votes, groups.length);
  }
  const verdicts = group.map(({ verdict }) => verdict as NodeVerdict);
  const [first] = verdicts as [NodeVerdict, ...NodeVerdict[]];
  const depths = verdicts.flatMap(({ confirmations }) => confirmations ?? []);
  const { verdict, reason, arrived, block, index } = first;
  const nodes = group.map(({ node }) => node);
  return {
    verdict,
    reason,
    arrived,
    block,
    index,
    confirmations: depths.length === 0 ? null : Math.min(...depths),
    final: verdicts.filter(({ final }) => final).length >= quorum,
    nodes,
    problems: votes.filter(({ node }) => !nodes.includes(node)).map((
      { node, problem },
    ) => ({ node, problem: problem ?? "says_otherwise" })),
  };
}

function sameness(verdict: NodeVerdict | null): string {
  if (verdict === null) return "";
  const { verdict: code, reason, arrived, block, index } = verdict;
  return JSON.stringify([code, reason, arrived, block?.blockHash, index]);
}

function undecided(votes: readonly Vote[], groups: number): Agreed {
  const wrong = votes.filter(({ problem }) => problem === "wrong_chain");
  const isWrong = votes.length > 0 && wrong.length === votes.length;
  return {
    verdict: isWrong ? "wrong_chain" : "undecided",
    reason: isWrong
      ? null
      : groups === 0
      ? "no_node_answered"
      : groups === 1
      ? "no_quorum"
      : "nodes_disagree",
    arrived: null,
    block: null,
    index: null,
    confirmations: null,
    final: false,
    nodes: [],
    problems: votes.flatMap(({ node, problem, verdict }) =>
      problem !== null
        ? [{ node, problem }]
        : groups > 1 && verdict !== null
        ? [{ node, problem: "says_otherwise" as const }]
        : []
    ),
  };
}
