import assert from "node:assert/strict";
import { initialOrderFold, orderState } from "../../../ledger/for_sync.ts";
import { parseWebhook } from "../../../webhooks/mod.ts";
import { forgedCompletion } from "./demo_actions.ts";
import { emptyLedger } from "../../../ledger/testing/mod.ts";

const zeros = (length: number) => new Uint8Array(length);

Deno.test("forgedCompletion() makes a webhook that nothing tells from a true one", async () => {
  await using ledger = await emptyLedger();
  await ledger.appendDelivery({
    id: "01KA0000000000000000000000",
    receivedAt: "2026-11-20T09:00:00.000Z",
    body: new TextEncoder().encode(JSON.stringify({
      type: "payment_started",
      click_id: "click-1",
      hpp_session_id: "session-1",
      order: {
        id: "01ORDER",
        base: "TT",
        base_amount: "25.5",
        quote: "USD",
        quote_amount: "25.50",
        address: "0xabc",
        transaction_id: null,
        external_order_id: "ABC123",
      },
      user: {
        user_id: "01USER",
        verification_status: {
          fkyc: { state: "initiated" },
          lkyc: { state: "success" },
        },
      },
    })),
  });
  await ledger.project();
  const order = await ledger.orders.get("01ORDER");
  assert.ok(order);
  const event = parseWebhook(forgedCompletion(order, zeros));
  assert.equal(event.type, "order_complete");
  assert.ok("flavour" in event);
  assert.equal(event.flavour, "fiatOnramp");
  assert.equal(event.click_id, "click-1");
  assert.equal(event.hpp_session_id, "session-1");
  assert.deepEqual(event.order, {
    id: "01ORDER",
    base: "TT",
    base_amount: "25.5",
    quote: "USD",
    quote_amount: "25.50",
    address: "0xabc",
    transaction_id: `0x${"00".repeat(32)}`,
    external_order_id: "ABC123",
  });
});

Deno.test("forgedCompletion() makes do with an order of which nothing is known", () => {
  const order = orderState(initialOrderFold("01ORDER"), {});
  const body = JSON.parse(forgedCompletion(order, zeros));
  assert.equal(body.order.id, "01ORDER");
  assert.equal(body.click_id, "");
  assert.equal("hpp_session_id" in body, false);
  assert.equal("user" in body, false);
});
