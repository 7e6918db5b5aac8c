import assert from "node:assert/strict";
import { readFact } from "../events/read_fact.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import {
  emptyStore,
  orderRead,
  orderWebhook,
} from "../testing/projection_test_kit.ts";
import { MOST_WEBHOOKS, readOrderFacts } from "./order_facts.ts";

Deno.test("readOrderFacts() reads so many webhooks of an order and no more, and everything that is no webhook", async () => {
  const driver = await emptyStore();
  const order = { orderId: "O1", status: "success" };
  const sent = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) =>
      orderWebhook(`W${from + n}`, 1, {
        type: "order_complete",
        orderId: "O1",
      }));
  const kinds = async () => {
    const { facts, unread } = await readOrderFacts(driver, "O1", readFact);
    const readings = facts.filter(({ kind }) => kind === "order_snapshot");
    return {
      webhooks: facts.length - readings.length,
      readings: readings.length,
      last: facts.at(-1)?.kind,
      unread,
    };
  };
  const append = (events: Parameters<typeof appendStatement>[0]) =>
    driver.batch([appendStatement(events)], "write");
  await append([...sent(0, 120), orderRead(2, order)]);
  assert.deepEqual(await kinds(), {
    webhooks: 120,
    readings: 1,
    last: "order_snapshot",
    unread: 0,
  });
  await append([
    ...sent(120, MOST_WEBHOOKS - 20),
    orderRead(3, { ...order, status: "failed" }),
    ...sent(MOST_WEBHOOKS + 100, 7),
    orderRead(4, order),
  ]);
  const { webhooks, ...read } = await kinds();
  // It stops at the end of the step in which the last one is reached.
  assert.ok(webhooks >= MOST_WEBHOOKS && webhooks < MOST_WEBHOOKS + 50);
  assert.deepEqual(read, {
    readings: 3,
    last: "order_snapshot",
    unread: MOST_WEBHOOKS + 107 - webhooks,
  });
  await driver.close();
});
