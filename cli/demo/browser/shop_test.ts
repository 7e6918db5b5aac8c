import assert from "node:assert/strict";
import { OnrampClient } from "../../../client/mod.ts";
import { createSandbox } from "../../../sandbox/mod.ts";
import { createPoller } from "../../../sync/mod.ts";
import { PRODUCT, shopSessions } from "./shop.ts";
import { emptyLedger } from "../../../ledger/testing/mod.ts";

Deno.test("shopSessions() records what the shop sells, so that an order of another amount waits", async () => {
  await using sandbox = createSandbox();
  await using ledger = await emptyLedger();
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    requestsPerSecond: 1000,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
  });
  const sessions = shopSessions({
    client,
    ledger,
    report: (error) => {
      throw error;
    },
  });
  const buy = async (currencyAmount: string) => {
    const answer = await sessions(
      new Request("https://shop.example/session", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          origin: "https://shop.example",
        },
        body: JSON.stringify({ input: { wallet: PRODUCT.wallet } }),
      }),
    );
    assert.equal(answer.status, 200, await answer.clone().text());
    const { session_id: sessionId, click_id: clickId } = await answer.json();
    const { orderId } = sandbox.createOrder({
      ...{ sessionId, clickId, currencyAmount },
      commodity: PRODUCT.commodity,
      network: PRODUCT.network,
      address: PRODUCT.wallet,
    });
    for (const step of ["pay", "authorise", "complete"] as const) {
      sandbox.advance(orderId, step);
    }
    return orderId;
  };
  const paid = await buy(PRODUCT.currencyAmount);
  const cheap = await buy("5.00");
  await createPoller({ ledger, client }).once();
  await ledger.project();
  const decided = async (id: string) => {
    const order = await ledger.orders.get(id);
    return `${order?.release} ${order?.releaseReason}`;
  };
  assert.equal(await decided(paid), "yes session_matched");
  assert.equal(await decided(cheap), "wait not_as_requested");
});
