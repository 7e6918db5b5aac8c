import { orderSnapshot } from "../../ledger/testing/mod.ts";
import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const ORDER = "01KQWITNESS000000000000001";

/** A ledger with one success, and nodes of its network that do not answer. */
async function paidOrder() {
  const ledger = await temporaryLedger();
  const chains = `${ledger.folder}/chains.json`;
  await Deno.writeTextFile(
    chains,
    '{"amoy":{"nodes":{"node":"http://127.0.0.1:1"},"confirmations":9}}',
  );
  await using open = await openLedger({
    url: ledger.url,
    environment: "sandbox",
    worker: false,
  });
  const at = new Date(Date.now() - 3_600_000).toISOString();
  await open.append([
    orderSnapshot({
      source: JSON.stringify({
        order_id: ORDER,
        status: "success",
        crypto: "pol.simple.amoy",
        crypto_amount: 1,
        recipient: `0x${"a".repeat(40)}`,
        tx_id: `0x${"b".repeat(64)}`,
        created_at: at.slice(0, 19).replace("T", " "),
      }),
      readAt: at,
      recordedAt: at,
      salt: new Uint8Array(16),
    }),
  ]);
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  return {
    env: { ...env, RAMPKIT_CHAINS: chains },
    withoutNodes: env,
    [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
  };
}

Deno.test("rampkit witness looks at one order, and says what it saw as JSON and as a line", async () => {
  await using paid = await paidOrder();
  const one = await cli(["witness", ORDER, "--json"], paid.env);
  assert.equal(one.code, 0, one.err);
  const { orderId, look } = JSON.parse(one.out);
  assert.deepEqual([orderId, look.verdict], [ORDER, "undecided"]);
  const said = await cli(["witness", ORDER], paid.env);
  assert.match(said.out, new RegExp(`^Order ${ORDER}: undecided: `));
});

Deno.test("rampkit witness without an order looks at what is due, and at nothing where nothing is", async () => {
  await using paid = await paidOrder();
  const due = await cli(["witness", "--json"], paid.env);
  assert.equal(due.code, 0, due.err);
  assert.deepEqual(
    due.out.trim().split("\n").map((line) => JSON.parse(line).orderId),
    [ORDER],
  );
  const later = await cli(["witness", "--since", "2099-01-01"], paid.env);
  assert.equal(later.code, 0, later.err);
  assert.equal(later.out, "Nothing is due.\n");
});

Deno.test("rampkit witness refuses an order beside --since, a wrong time, and no nodes", async () => {
  await using paid = await paidOrder();
  const refused = async (...args: string[]) => {
    const { code, err } = await cli(["witness", ...args], paid.withoutNodes);
    assert.equal(code, 2, err);
    return err;
  };
  assert.match(
    await refused(ORDER, "--since", "2026-11-01"),
    /^These do not go together: \[order\], --since/,
  );
  assert.match(await refused("--since", "soon"), /^Wrong --since: /);
  for (const args of [[], [ORDER]]) {
    assert.match(await refused(...args), /no chain nodes .* RAMPKIT_CHAINS/);
  }
});
