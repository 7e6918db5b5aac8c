import { orderSnapshot } from "../../ledger/testing/mod.ts";
import assert from "node:assert/strict";
import { testConsole } from "../../tests/kit/console.ts";
import {
  FAKE_GENESIS,
  FakeBitcoin,
} from "../../witness/testing/fake_bitcoin.ts";
import { composeWitness } from "../compose/compose_witness.ts";
import { memoryLedger, testApi } from "./testing/test_api.ts";

const BTC = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const NOW_MS = Date.parse("2026-11-20T12:00:00Z");
const ORDER = "01JORDER";

/** A ledger with a success whose transaction is final on the chain. */
async function lookedAt() {
  const now = () => NOW_MS;
  const ledger = await memoryLedger();
  const bitcoin = new FakeBitcoin(NOW_MS / 1000);
  const txId = bitcoin.add({ address: BTC, sat: 420_000 });
  bitcoin.mine(3);
  const witness = await composeWitness({
    config: { chainsFile: null, requireWitness: null },
    ledger,
    log: () => {},
    now,
    chains: {
      bitcoin: {
        nodes: { own: "http://core.test" },
        confirmations: 3,
        genesis: FAKE_GENESIS,
      },
    },
    fetch: bitcoin.core(),
  });
  const time = new Date(NOW_MS).toISOString();
  await ledger.append([orderSnapshot({
    source: JSON.stringify({
      ...{ order_id: ORDER, status: "success", user_id: "01JUSER" },
      ...{ currency: "USD", currency_amount: "400", address: BTC },
      ...{ crypto: "btc.simple.bitcoin", crypto_amount: "0.0042" },
      ...{ tx_id: txId, created_at: time, changed_at: time },
    }),
    readAt: time,
    recordedAt: time,
    salt: new Uint8Array(16),
  })]);
  await ledger.project();
  return { ledger, now, lookAtChain: witness?.look ?? assert.fail() };
}

Deno.test("POST /v1/orders/{ref}/witness asks the chain nodes now, and records what is new", async () => {
  const { ledger, lookAtChain } = await lookedAt();
  await using api = await testApi({ ledger, lookAtChain });
  const asked = await api.post(`/v1/orders/${ORDER}/witness`);
  assert.equal(asked.status, 200);
  const { orderId, look, recorded } = await asked.json();
  assert.deepEqual([orderId, look.verdict, look.final, recorded], [
    ORDER,
    "delivered",
    true,
    true,
  ]);
  assert.equal((await ledger.orders.get(ORDER))?.facts.chain, "agrees");
  const again = await api.post(`/v1/orders/${ORDER}/witness`);
  assert.equal((await again.json()).recorded, false);
  assert.deepEqual(api.log.at(-1)?.fields, {
    action: "witness",
    by: "night",
    orderId: ORDER,
    verdict: "delivered",
    recorded: false,
  });
  assert.equal((await api.post("/v1/orders/01JNOBODY/witness")).status, 404);
});

Deno.test("POST /v1/orders/{ref}/witness says so where no chain nodes are known, or the token may only read", async () => {
  const { ledger } = await lookedAt();
  await using api = await testApi({ ledger });
  const asked = await api.post(`/v1/orders/${ORDER}/witness`);
  assert.equal(asked.status, 409);
  assert.match((await asked.json()).detail, /set RAMPKIT_CHAINS/);
  assert.equal((await api.get(`/v1/orders/${ORDER}/witness`)).status, 405);
});

Deno.test("the page of an order asks the chain nodes for who may operate", async () => {
  const { ledger, now, lookAtChain } = await lookedAt();
  const operates = { kind: "open", operates: true } as const;
  await using pages = testConsole(ledger, now, operates, { lookAtChain });
  const path = `/orders/${ORDER}`;
  const page = await pages.ask(path);
  const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
  const text = await page.text();
  assert.match(text, /Ask your chain nodes now/);
  const [, form = ""] = /name="form" value="([^"]+)"/.exec(text) ?? [];
  const sent = await pages.ask("/do/lookAtChain", {
    headers: { cookie, origin: "http://127.0.0.1:8790" },
    fields: { form, ref: ORDER, back: path },
  });
  assert.deepEqual([sent.status, sent.headers.get("location")], [303, path]);
  assert.match(await pages.read(path), /reached bc1q.*read from own\./);
});

Deno.test("the page of an order has no such button for who may only read, and where no nodes are known", async () => {
  const { ledger, now, lookAtChain } = await lookedAt();
  const reads = { kind: "open", operates: false } as const;
  const page = await testConsole(ledger, now, reads, { lookAtChain })
    .read(`/orders/${ORDER}`);
  assert.doesNotMatch(page, /Ask your chain nodes now/);
  const operates = { kind: "open", operates: true } as const;
  await using pages = testConsole(ledger, now, operates);
  assert.doesNotMatch(await pages.read(`/orders/${ORDER}`), /Ask your chain/);
});
