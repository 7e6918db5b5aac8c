import assert from "node:assert/strict";
import { readChains } from "./chains_file.ts";
import { NodeWatch, probeNodes } from "./node_health.ts";
import { FAKE_GENESIS, FakeBitcoin } from "./testing/fake_bitcoin.ts";
import { type Look, NODE_PROBLEMS, type NodeTrouble } from "./transfer.ts";

const NOW_MS = Date.UTC(2026, 10, 24);

Deno.test("probeNodes() tells what is wrong with each node, before any order needs it", async () => {
  const bitcoin = new FakeBitcoin(NOW_MS / 1000);
  bitcoin.mine(3);
  const core = bitcoin.core();
  const rpc = (results: Readonly<Record<string, unknown>>) =>
  (
    init: RequestInit | undefined,
  ) => {
    const { method } = JSON.parse(String(init?.body));
    return Response.json({ jsonrpc: "2.0", id: 1, result: results[method] });
  };
  const evm = (chainId: string, height: number, timeMs: number) =>
    rpc({
      eth_chainId: chainId,
      eth_getBlockByNumber: {
        hash: "0x5a",
        number: `0x${height.toString(16)}`,
        timestamp: `0x${(timeMs / 1000).toString(16)}`,
      },
    });
  const answers: Readonly<
    Record<string, (init?: RequestInit) => Response | Promise<Response>>
  > = {
    whole: evm("0x1", 100, NOW_MS),
    behind: evm("0x1", 70, NOW_MS),
    old: evm("0x1", 100, NOW_MS - 3_600_000),
    other: evm("0x89", 100, NOW_MS),
    refusing: () => new Response("no", { status: 403 }),
    busy: () => new Response("later", { status: 429 }),
    page: () => new Response("<html>"),
    gone: () => Promise.reject(new TypeError("connection refused")),
    silent: (init) =>
      new Promise((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(new Error("late")))
      ),
  };
  const nodes = Object.fromEntries(
    Object.keys(answers).map((name) => [name, `http://${name}.test`]),
  );
  const probed = await probeNodes({
    chains: readChains({
      bitcoin: {
        nodes: { core: "http://core.test" },
        confirmations: 3,
        genesis: FAKE_GENESIS,
      },
      ethereum: { nodes, confirmations: 1 },
    }),
    now: () => NOW_MS,
    timeoutMs: 50,
    fetch: async (url, init) => {
      const { hostname } = new URL(String(url));
      return hostname === "core.test"
        ? await core(url, init)
        : await answers[hostname.replace(".test", "")]?.(init) ??
          assert.fail(hostname);
    },
  });
  assert.deepEqual(
    Object.fromEntries(probed.map(({ node, problem }) => [node, problem])),
    {
      core: null,
      whole: null,
      behind: "lagging",
      old: "lagging",
      other: "wrong_chain",
      refusing: "refused",
      busy: "rate_limited",
      page: "bad_answer",
      gone: "unreachable",
      silent: "timeout",
    },
  );
});

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
