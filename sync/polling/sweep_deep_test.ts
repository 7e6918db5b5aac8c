import assert from "node:assert/strict";
import {
  bench,
  drain,
  rows,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import { ENTITIES } from "../../ledger/for_sync.ts";
import { allSteps, type Steps } from "../walk/walk.ts";
import type { SweepContext } from "./sweeps.ts";
import { readDeepProgress, sweepDeep } from "./sweep_created.ts";

const day = 24 * 3_600_000;

function deep(context: SweepContext): Steps {
  return allSteps(ENTITIES.map((entity) => sweepDeep(context, entity)));
}

Deno.test("sweepDeep() finds a change of an old final order nobody told of", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 60,
    fromMs: startMs - 300 * day,
    untilMs: startMs - day,
  });
  const driver = await storeOnly();
  const { context, read } = await bench(box, driver);
  await drain(deep(context), box.clock);
  const known = await rows(
    driver,
    "SELECT entity, count(*) FROM observations GROUP BY entity",
  );
  assert.deepEqual(known.map((row) => [...row]), [
    ["order", 60],
    ["user", box.sandbox.users().length],
  ]);
  const old = box.sandbox.orders().find((order) => order.status === "success");
  assert.ok(old);
  box.sandbox.amendOrder(old.orderId, { status: "cancelled" });
  const before = read.appended;
  await drain(deep(context), box.clock);
  assert.equal(read.appended, before + 1);
  const latest = await rows(
    driver,
    "SELECT status FROM observations WHERE id = ?",
    old.orderId,
  );
  assert.equal(latest[0]?.[0], "cancelled");
  await driver.close();
});

Deno.test("sweepDeep() goes on where it was broken off, and counts its cycles", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 100,
    fromMs: startMs - 300 * day,
    untilMs: startMs - day,
  });
  const driver = await storeOnly();
  const first = await bench(box, driver, { itemsPerWindow: 20 });
  await drain(deep(first.context), box.clock, 9);
  const count = async () =>
    (await rows(
      driver,
      "SELECT count(*) FROM observations WHERE entity = 'order'",
    ))[0]?.[0];
  const seen = Number(await count());
  assert.ok(seen > 0 && seen < 100, `it had read ${seen}`);
  const before = box.asked.length;
  const second = await bench(box, driver, { itemsPerWindow: 20 });
  await drain(deep(second.context), box.clock);
  const ofOrders = box.asked.slice(before).filter((url) =>
    url.pathname.endsWith("/orders")
  );
  // It would look for the oldest order if it began again.
  assert.ok(ofOrders.every((url) => url.searchParams.get("limit") !== "1"));
  assert.equal(await count(), 100);
  const progress = await readDeepProgress(driver, "order");
  assert.equal(progress.cycles, 1);
  assert.equal(progress.startedAt, null);
  await driver.close();
});

Deno.test("sweepDeep() waits after a cycle", async () => {
  await using box = service();
  box.sandbox.createOrder();
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  const sweep = () => drain(sweepDeep(context, "user", day), box.clock);
  assert.ok(await sweep() > 0);
  assert.equal((await readDeepProgress(driver, "user")).cycles, 1);
  assert.equal(await sweep(), 0);
  await box.clock.advance(day);
  assert.ok(await sweep() > 0);
  await driver.close();
});
