import assert from "node:assert/strict";
import { NodeWatch } from "./node_watch.ts";
import { type Look, NODE_PROBLEMS, type NodeTrouble } from "./transfer.ts";

const MINUTE = 60_000;

function look(
  nodes: readonly string[],
  problems: readonly NodeTrouble[],
  final = false,
): Look {
  return {
    verdict: "delivered",
    reason: null,
    arrived: null,
    confirmations: null,
    final,
    block: null,
    evidence: { index: null, nodes, answers: null, tolerance: null, problems },
  };
}

function watching() {
  let nowMs = Date.UTC(2026, 10, 24);
  const watch = new NodeWatch(() => nowMs);
  return {
    watch,
    pass: (ms: number) => {
      nowMs += ms;
    },
    problems: () =>
      Object.fromEntries(
        watch.states().map(({ network, node, problem }) => [
          `${network}/${node}`,
          problem,
        ]),
      ),
  };
}

Deno.test("NodeWatch.states() tells a node that fails twice in a row, and that it is over", () => {
  const { watch, pass, problems } = watching();
  watch.take("Ethereum", look(["a"], [{ node: "b", problem: "timeout" }]));
  assert.deepEqual(problems(), { "ethereum/a": null, "ethereum/b": null });
  pass(MINUTE);
  watch.probed("ethereum", "b", "timeout");
  assert.deepEqual(problems(), { "ethereum/a": null, "ethereum/b": "timeout" });
  assert.equal(watch.states()[1]?.since, "2026-11-24T00:00:00.000Z");
  watch.probed("ethereum", "b", null);
  assert.equal(problems()["ethereum/b"], null);
});

Deno.test("NodeWatch.states() tells each problem of a node", () => {
  for (const problem of NODE_PROBLEMS) {
    const { watch, problems } = watching();
    for (let times = 0; times < 3; times++) {
      watch.take("bitcoin", look([], [{ node: "a", problem }]));
    }
    assert.equal(problems()["bitcoin/a"], problem);
  }
});

Deno.test("NodeWatch.states() calls a node a liar against a final verdict at once, else after three looks", () => {
  const otherwise = [{ node: "b", problem: "says_otherwise" }] as const;
  const young = watching();
  young.watch.take("bitcoin", look(["a"], otherwise));
  young.watch.take("bitcoin", look(["a"], otherwise));
  assert.equal(young.problems()["bitcoin/b"], null);
  young.watch.take("bitcoin", look(["a", "b"], []));
  young.watch.take("bitcoin", look(["a"], otherwise));
  assert.equal(young.problems()["bitcoin/b"], null);
  const { watch, pass, problems } = watching();
  watch.take("bitcoin", look(["a"], otherwise, true));
  assert.equal(problems()["bitcoin/b"], "says_otherwise");
  // Its newest block says nothing of the transaction.
  watch.probed("bitcoin", "b", null);
  assert.equal(problems()["bitcoin/b"], "says_otherwise");
  pass(25 * 60 * MINUTE);
  assert.equal(problems()["bitcoin/b"], null);
});
