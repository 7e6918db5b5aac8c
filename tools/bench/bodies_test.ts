import assert from "node:assert/strict";
import { parseWebhook } from "../../webhooks/mod.ts";
import { webhookBody } from "./bodies.ts";

Deno.test("webhookBody() gives each order seven documented deliveries with the same ids", () => {
  const clicks = new Map<string, Set<string>>();
  for (let number = 0; number < 700; number++) {
    const text = webhookBody(number, "lives");
    const event = parseWebhook(new TextEncoder().encode(text));
    assert.notEqual(event.type, "unrecognised", text);
    const { click_id, type } = JSON.parse(text);
    const types = clicks.get(click_id) ?? new Set();
    clicks.set(click_id, types.add(type));
  }
  assert.equal(clicks.size, 100);
  assert.ok([...clicks.values()].every(({ size }) => size === 7));
});

Deno.test("webhookBody() gives new orders in order, each with ids of its own", () => {
  const orders = Array.from(
    { length: 10_000 },
    (_, number) => JSON.parse(webhookBody(number, "new")),
  );
  const ids = orders.map(({ order }) => order.id);
  assert.deepEqual(ids, ids.toSorted());
  for (
    const of of [
      ({ order }: typeof orders[number]) => order.id,
      ({ order }: typeof orders[number]) => order.transaction_id,
      ({ order }: typeof orders[number]) => order.external_order_id,
      ({ click_id }: typeof orders[number]) => click_id,
    ]
  ) assert.equal(new Set(orders.map(of)).size, orders.length);
});
