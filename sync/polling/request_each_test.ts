import assert from "node:assert/strict";
import type { Driver } from "../../ledger/for_sync.ts";
import {
  bench,
  drain,
  moving,
  named,
  rows,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import { refusedPauseMs, sweepConfirm } from "./sweeps.ts";
import { createPoller } from "./poller.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

function want(driver: Driver, id: string, entity = "order"): Promise<void> {
  return named(driver, entity, id, startMs - 1000);
}

/** Answers of a service that refuses one id, in the four ways it may. */
const refusals: Readonly<Record<string, () => Response>> = {
  "403": () => Response.json({ message: "forbidden" }, { status: 403 }),
  "400": () => Response.json({ message: "bad id" }, { status: 400 }),
  "500": () => Response.json({ message: "oops" }, { status: 500 }),
  "a page of HTML": () =>
    new Response("<html>blocked</html>", {
      headers: { "content-type": "text/html" },
    }),
};

for (const [how, refuse] of Object.entries(refusals)) {
  Deno.test(`sweepConfirm() sets an id aside that the service refuses with ${how}, and confirms the others`, async () => {
    await using box = service();
    const driver = await storeOnly();
    const orders = Array.from({ length: 30 }, () => box.sandbox.createOrder());
    const bad = "01JREFUSED0000000000000000";
    for (const { orderId } of orders.slice(0, 12)) await want(driver, orderId);
    await want(driver, bad);
    for (const { orderId } of orders.slice(12)) await want(driver, orderId);
    box.refuse = (url) =>
      url.searchParams.get("search_by")?.split(",").includes(bad)
        ? refuse()
        : null;
    const { context } = await bench(box, driver);
    await drain(sweepConfirm(context), box.clock);
    const known = await rows(driver, "SELECT count(*) FROM observations");
    assert.equal(known[0]?.[0], 30);
    const odd = await rows(
      driver,
      "SELECT entity, id, kind, attempts FROM set_aside",
    );
    assert.deepEqual(odd.map((row) => [...row]), [
      ["order", bad, "refused", 1],
    ]);
    // It waits, is asked for alone, and rests longer.
    const before = box.asked.length;
    await drain(sweepConfirm(context), box.clock);
    assert.equal(box.asked.length, before);
    await box.clock.advance(10 * 60_000);
    await drain(sweepConfirm(context), box.clock);
    const searches = box.asked.slice(before).flatMap((url) =>
      url.searchParams.get("search_by") ?? []
    );
    assert.deepEqual([...new Set(searches)], [bad]);
    assert.equal(
      (await rows(driver, "SELECT attempts FROM set_aside"))[0]?.[0],
      2,
    );
    // Once the service takes it, nothing is odd any more.
    box.refuse = () => null;
    await box.clock.advance(10 * 60_000);
    await drain(sweepConfirm(context), box.clock);
    assert.deepEqual(await rows(driver, "SELECT * FROM set_aside"), []);
    assert.deepEqual(
      await rows(driver, "SELECT id FROM orders WHERE named_at IS NOT NULL"),
      [],
    );
    await driver.close();
  });
}

Deno.test("sweepConfirm() sets no id aside while the service fails whatever it is asked", async () => {
  await using box = service();
  const driver = await storeOnly();
  for (let i = 0; i < 20; i++) {
    await want(driver, box.sandbox.createOrder().orderId);
  }
  box.refuse = () => Response.json({ message: "down" }, { status: 403 });
  const { context } = await bench(box, driver);
  await assert.rejects(drain(sweepConfirm(context), box.clock), /403/);
  assert.ok(box.asked.length <= 3, `it asked ${box.asked.length} times`);
  assert.deepEqual(await rows(driver, "SELECT * FROM set_aside"), []);
  await driver.close();
});

Deno.test("sweepConfirm() sets a user aside that the service refuses", async () => {
  await using box = service();
  const driver = await storeOnly();
  const user = box.sandbox.createUser();
  await want(driver, user.userId, "user");
  await want(driver, "refused", "user");
  box.refuse = (url) =>
    url.searchParams.get("user_ids")?.includes("refused")
      ? Response.json({ message: "bad id" }, { status: 400 })
      : null;
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock);
  const odd = await rows(driver, "SELECT entity, id FROM set_aside");
  assert.deepEqual(odd.map((row) => [...row]), [["user", "refused"]]);
  const known = await rows(driver, "SELECT id FROM observations");
  assert.deepEqual(known.map((row) => row[0]), [user.userId]);
  await driver.close();
});

Deno.test("once() runs the other sweeps when the service fails one, and says so", async () => {
  await using box = service();
  await using ledger = await emptyLedger({
    now: () => box.clock.now(),
  });
  const user = box.sandbox.createUser();
  box.refuse = (url) =>
    url.pathname.endsWith("/orders")
      ? Response.json({ message: "no orders" }, { status: 403 })
      : null;
  const poller = createPoller({
    ledger,
    client: box.client,
    now: () => box.clock.now(),
    sleep: (ms, signal) => box.clock.sleep(ms, signal),
    requestsPerSecond: 1000,
  });
  await assert.rejects(moving(poller.once(), box.clock), /403/);
  const known = await ledger.users.get(user.userId);
  assert.equal(known?.trust, "confirmed");
});

Deno.test("refusedPauseMs() doubles from ten seconds to an hour", () => {
  assert.deepEqual([1, 2, 3, 100].map(refusedPauseMs), [
    10_000,
    20_000,
    40_000,
    3_600_000,
  ]);
});
