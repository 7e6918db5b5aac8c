import assert from "node:assert/strict";
import { parseWebhook } from "../core/webhook_event/parse_webhook.ts";
import { createSandbox } from "./sandbox.ts";
import { USER_STEPS } from "./users.ts";
import { virtualClock } from "./clock.ts";

Deno.test("populate() sends only webhooks that parseWebhook() recognises", async () => {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const sandbox = createSandbox({
    clock,
    webhookUrl: "http://partner/hook",
    fetch: () => Promise.resolve(new Response(null, { status: 204 })),
  });
  void sandbox.populate({ orders: 120, spanMs: 3_600_000 });
  await clock.advance(6 * 3_600_000);
  const { userId } = sandbox.createUser();
  for (const step of USER_STEPS) sandbox.advanceUser(userId, step);
  await sandbox.pressTest();
  const types = new Map<string, Set<string | null>>();
  for (const { body } of sandbox.deliveries()) {
    const event = parseWebhook(body);
    assert.notEqual(event.type, "unrecognised", body);
    if (event.type === "unrecognised") continue;
    const flavours = types.get(event.type) ?? new Set();
    types.set(event.type, flavours.add(event.flavour));
  }
  assert.equal(types.size, 15, [...types.keys()].join());
  for (const type of ["payment_started", "order_complete", "order_failed"]) {
    assert.deepEqual(
      [...types.get(type) ?? []].sort(),
      ["fiatOnramp", "nftCheckout"],
    );
  }
  await sandbox.close();
});

Deno.test("cancelSpelling sets the type of a cancelled order", async () => {
  const sandbox = createSandbox({ cancelSpelling: "order_canceled" });
  const { orderId } = sandbox.createOrder();
  sandbox.advance(orderId, "pay");
  sandbox.advance(orderId, "cancel");
  assert.equal(sandbox.deliveries().at(-1)?.type, "order_canceled");
  await sandbox.close();
});

Deno.test("orderEventBody() states the transaction where the interface says", async () => {
  const sandbox = createSandbox();
  const { orderId } = sandbox.createOrder({ currencyAmount: "10" });
  for (const step of ["pay", "authorise", "transfer", "complete"] as const) {
    sandbox.advance(orderId, step);
  }
  const { txId } = sandbox.order(orderId) ?? {};
  const bodies = sandbox.deliveries().map((one) => JSON.parse(one.body));
  assert.deepEqual(
    bodies.map(({ type, order }) => [type, order.transaction_id]),
    [
      ["payment_started", null],
      ["transfer_started", txId],
      ["order_complete", txId],
    ],
  );
  sandbox.advance(orderId, "cancel");
  const cancelled = JSON.parse(sandbox.deliveries(1)[0]?.body ?? "");
  assert.equal(cancelled.type, "order_cancelled");
  assert.equal(cancelled.order.transaction_id, null);
  assert.equal(bodies[0].order.quote_amount, "10.00");
  assert.equal(bodies[0].order.quote, "USD");
  await sandbox.close();
});

Deno.test("orderEventBody() names no session for an order of NFT Checkout", async () => {
  await using sandbox = createSandbox();
  const { orderId } = sandbox.createOrder({
    cryptoType: "sc",
    sessionId: "3f0c8a4e-0000-4000-8000-000000000000",
  });
  sandbox.advance(orderId, "pay");
  const body = JSON.parse(sandbox.deliveries().at(-1)?.body ?? "");
  assert.ok(body.order.partner_data);
  assert.ok(!("hpp_session_id" in body));
});

Deno.test("orderEventBody() states the error of a failed order, and no transaction", async () => {
  const sandbox = createSandbox();
  const { orderId } = sandbox.createOrder();
  sandbox.advance(orderId, "pay");
  sandbox.advance(orderId, "fail", {
    failReason: "4016",
    errorText: "Too late",
  });
  const body = JSON.parse(sandbox.deliveries().at(-1)?.body ?? "");
  assert.equal(body.order.error_code, "Too late");
  assert.equal(body.order.transaction_id, null);
  assert.equal(sandbox.order(orderId)?.failReason, "4016");
  await sandbox.close();
});
