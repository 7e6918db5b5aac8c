import type { NodeState } from "../../witness/node_health.ts";
import type { NodeProblem } from "../../witness/transfer.ts";
import { isWitnessed, type Ledger } from "../../ledger/for_resources.ts";
import { counted } from "../views/text.ts";
import type { ConditionCode } from "./conditions.ts";
import { type Finding, found } from "./finding.ts";

/** The condition of each problem of a node. */
const CONDITION_OF: Readonly<Record<NodeProblem, ConditionCode>> = {
  unreachable: "node_silent",
  timeout: "node_silent",
  refused: "node_refuses",
  rate_limited: "node_refuses",
  bad_answer: "node_unusable",
  wrong_chain: "node_of_other_chain",
  syncing: "node_behind",
  lagging: "node_behind",
  no_index: "node_forgets",
  pruned: "node_forgets",
  says_otherwise: "node_disagrees",
};

/** Health of the partner's chain nodes. */
export function nodeFindings(
  states: readonly NodeState[],
): readonly Finding[] {
  const broken = states.flatMap(({ network, node, problem, since }) =>
    problem === null ? [] : found(CONDITION_OF[problem], {
      about: `${network}/${node}`,
      since,
      more: `${node} of ${network} (${problem})`,
      facts: { network, node, problem },
    })
  );
  if (broken.length > 0) return broken;
  return states.length === 0 ? [] : [
    found("nodes_answer", {
      more: counted(states.length, "node"),
      facts: { nodes: states.length },
    }),
  ];
}

/** Whether a process asks the nodes, if releases wait for them. */
export async function lookAtRequirement(
  ledger: Ledger,
): Promise<readonly Finding[]> {
  const rule = await ledger.requiredWitness();
  const isAsked = await isWitnessed(ledger.driver);
  if (isAsked) return [];
  return [found(rule === "off" ? "nodes_unused" : "nodes_not_asked")];
}
