import assert from "node:assert/strict";
import type { Driver } from "../../ledger/for_sync.ts";
import {
  bench,
  drain,
  named,
  rows,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import { sweepConfirm } from "./sweeps.ts";
import { sweepNew } from "./sweep_created.ts";

function at(ms: number): number {
  return startMs + ms;
}

async function waiting(driver: Driver): Promise<unknown[]> {
  return (await rows(
    driver,
    `SELECT id FROM orders WHERE named_at IS NOT NULL
      UNION ALL SELECT id FROM users WHERE named_at IS NOT NULL ORDER BY id`,
  )).map(([id]) => id);
}

Deno.test("sweepConfirm() asks for 20 ids at a time, to the end of the answer", async () => {
  await using box = service();
  const driver = await storeOnly();
  const orders = Array.from({ length: 45 }, () => box.sandbox.createOrder());
  for (const [i, { orderId }] of orders.entries()) {
    await named(driver, "order", orderId, at(i));
  }
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock);
  assert.deepEqual(await waiting(driver), []);
  const searches = box.asked.map((url) =>
    url.searchParams.get("search_by")?.split(",").length
  );
  assert.deepEqual(new Set(searches), new Set([20, 5]));
  const known = await rows(driver, "SELECT count(*) FROM observations");
  assert.equal(known[0]?.[0], 45);
  await driver.close();
});

Deno.test("sweepConfirm() asks for users, and forgets those nobody knows", async () => {
  await using box = service();
  const driver = await storeOnly();
  const user = box.sandbox.createUser();
  await named(driver, "user", user.userId, at(0));
  await named(driver, "user", "01JNOSUCHUSER0000000000000", at(1));
  const { context, read } = await bench(box, driver);
  assert.equal(await drain(sweepConfirm(context), box.clock), 1);
  assert.deepEqual(await waiting(driver), []);
  assert.equal(read.appended, 1);
  await driver.close();
});

Deno.test("sweepConfirm() asks again about a user whom a webhook named in the second of the answer", async () => {
  await using box = service();
  const driver = await storeOnly();
  const { userId } = box.sandbox.createUser();
  await box.clock.advance(300);
  await named(driver, "user", userId, at(300));
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock);
  assert.deepEqual(await waiting(driver), [userId]);
  await box.clock.advance(context.confirmAtLeastMs);
  await drain(sweepConfirm(context), box.clock);
  assert.deepEqual(await waiting(driver), []);
  await driver.close();
});

Deno.test("sweepConfirm() keeps what is named again while it is being asked for", async () => {
  const driver = await storeOnly();
  let again = Promise.resolve();
  await using box = service({}, (url) => {
    const id = url.searchParams.get("search_by");
    if (id !== null) again = named(driver, "order", id, at(1000));
  });
  const { orderId } = box.sandbox.createOrder();
  await named(driver, "order", orderId, at(0));
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock);
  await again;
  assert.deepEqual(await waiting(driver), [orderId]);
  await driver.close();
});

Deno.test("sweepConfirm() takes nothing for absent from a walk that did not end", async () => {
  await using box = service();
  const driver = await storeOnly();
  const { orderId } = box.sandbox.createOrder();
  await named(driver, "order", orderId, at(0));
  await named(driver, "order", "01JNOSUCHORDER000000000000", at(0));
  const { context } = await bench(box, driver);
  const { list } = context.client.orders;
  const client = {
    ...context.client,
    orders: {
      ...context.client.orders,
      list: ((query, options) => {
        const walk = list(query, options);
        return {
          pages: () => walk.pages(),
          get completeness() {
            return { ...walk.completeness, exhausted: false };
          },
        };
      }) as typeof list,
    },
  };
  await drain(sweepConfirm({ ...context, client }), box.clock);
  const kinds = await rows(
    driver,
    "SELECT kind FROM events WHERE kind <> 'webhook'",
  );
  assert.deepEqual(kinds.map(([kind]) => kind), ["order_snapshot"]);
  await driver.close();
});

Deno.test("sweepNew() takes an order out of the queue when it reads it after the webhook", async () => {
  await using box = service();
  const driver = await storeOnly();
  const early = box.sandbox.createOrder();
  const late = box.sandbox.createOrder();
  await named(driver, "order", early.orderId, at(-60_000));
  await named(driver, "order", late.orderId, at(-1000));
  const { context } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  assert.deepEqual(await waiting(driver), [late.orderId]);
  await driver.close();
});
