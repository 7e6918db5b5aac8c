import assert from "node:assert/strict";
import { readChains } from "./chains_file.ts";
import { probeNodes } from "./probe_nodes.ts";
import { FAKE_GENESIS, FakeBitcoin } from "./testing/fake_bitcoin.ts";

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
