import { orderSnapshot } from "../../ledger/testing/mod.ts";
import assert from "node:assert/strict";
import {
  FAKE_GENESIS,
  FakeBitcoin,
} from "../../witness/testing/fake_bitcoin.ts";
import type { Problem } from "../alarms/alarm_message.ts";
import { startOnramp } from "./start_onramp.ts";

const BTC = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

/** One node of Bitcoin's family, and one that answers nobody. */
const CHAINS = {
  bitcoin: {
    nodes: { own: "http://core.test", other: "http://gone.test" },
    quorum: 1,
    confirmations: 3,
    genesis: FAKE_GENESIS,
  },
} as const;

Deno.test("startOnramp() calls a handler of order.release.yes only once the chain shows the transfer, where that is required", async () => {
  // The rule holds from the next second on.
  const nowMs = Math.ceil(Date.now() / 1000) * 1000 + 2000;
  const bitcoin = new FakeBitcoin(nowMs / 1000);
  const txId = bitcoin.add({ address: BTC, sat: 420_000 });
  bitcoin.mine(3);
  const core = bitcoin.core();
  const told: Problem[] = [];
  const { promise: released, resolve } = Promise.withResolvers<string>();
  const asked: string[] = [];
  await using onramp = await startOnramp({
    databaseUrl: ":memory:",
    env: () => undefined,
    chains: CHAINS,
    requireWitness: "all",
    onProblem: (problem) => told.push(problem),
    on: { "order.release.yes": ({ key }) => resolve(key) },
    fetch: async (url, init) => {
      asked.push(String(url));
      if (String(url).startsWith("http://core.test")) {
        return await core(url, init);
      }
      throw new TypeError("connection refused");
    },
  });
  assert.equal(await onramp.ledger.requiredWitness(), "all");
  const { clickId } = await onramp.expect({
    reference: "basket-7",
    currency: "USD",
    amount: "400",
  });
  const time = new Date(nowMs).toISOString();
  const stated = time.slice(0, 19).replace("T", " ");
  await onramp.ledger.append([orderSnapshot({
    source: JSON.stringify({
      ...{ order_id: "01JORDER", status: "success", user_id: "01JUSER" },
      ...{ click_id: clickId, currency: "USD", currency_amount: "400" },
      ...{ crypto: "btc.simple.bitcoin", crypto_amount: "0.0042" },
      ...{ address: BTC, tx_id: txId, created_at: stated, changed_at: stated },
    }),
    readAt: time,
    recordedAt: time,
    salt: new Uint8Array(16),
  })]);
  assert.equal(await released, "order:01JORDER:release.yes");
  const logged = await onramp.ledger.transitions({ entity: "order" });
  assert.deepEqual(logged.map(({ key }) => key).slice(1), [
    "order:01JORDER:release.wait",
    "order:01JORDER:witness.delivered",
    "order:01JORDER:release.yes",
  ]);
  assert.equal(logged[1]?.logged?.reason, "witness_open");
  // The other node was asked at the start, and by the look.
  const { conditions } = await onramp.status();
  const silent = conditions.find(({ code }) => code === "node_silent");
  assert.deepEqual(silent?.facts, {
    network: "bitcoin",
    node: "other",
    problem: "unreachable",
  });
  assert.equal(JSON.stringify(conditions).includes("gone.test"), false);
  await onramp.close();
  assert.equal(asked.length > 0, true);
});

Deno.test("startOnramp() refuses to wait for chain nodes that nobody named", async () => {
  await assert.rejects(
    startOnramp({
      databaseUrl: ":memory:",
      env: () => undefined,
      requireWitness: "supported",
      onProblem: () => {},
    }),
    /Wrong RAMPKIT_REQUIRE_WITNESS: .*set RAMPKIT_CHAINS/,
  );
});
