import assert from "node:assert/strict";
import type { Driver } from "../../ledger/for_sync.ts";
import { backfillStatement } from "./poll_status.ts";
import {
  bench,
  drain,
  rows,
  type Service,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import { readNewProgress, sweepNew } from "./sweep_created.ts";

const day = 24 * 3_600_000;

async function known(driver: Driver, entity: string): Promise<string[]> {
  const found = await rows(
    driver,
    "SELECT id FROM observations WHERE entity = ? ORDER BY id",
    entity,
  );
  return found.map(([id]) => String(id));
}

function ids({ sandbox }: Service): string[] {
  return sandbox.orders().map((order) => order.orderId).sort();
}

async function statement(driver: Driver, entity: "order" | "user" = "order") {
  return backfillStatement(entity, await readNewProgress(driver, entity));
}

Deno.test("sweepNew() from nothing reads the whole past, with proof", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 130,
    fromMs: startMs - 900 * day,
    untilMs: startMs - day,
  });
  const driver = await storeOnly();
  const { context, read } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  assert.deepEqual(await known(driver, "order"), ids(box));
  assert.equal(read.appended, 130);
  const { complete, why, gaps } = await statement(driver);
  assert.deepEqual({ complete, why, gaps }, {
    complete: true,
    why: null,
    gaps: [],
  });
  await driver.close();
});

Deno.test("sweepNew() reads users as it reads orders", async () => {
  await using box = service();
  for (let i = 0; i < 70; i++) {
    box.sandbox.createUser({}, startMs - 40 * day + (i >> 2) * 250);
  }
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  await drain(sweepNew(context, "user"), box.clock);
  assert.equal((await known(driver, "user")).length, 70);
  assert.equal((await statement(driver, "user")).complete, true);
  await driver.close();
});

Deno.test("sweepNew() splits dense windows and goes on where it was broken off", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 150,
    fromMs: startMs - 30 * day,
    untilMs: startMs - day,
  });
  const driver = await storeOnly();
  const { context } = await bench(box, driver, { itemsPerWindow: 25 });
  await drain(sweepNew(context, "order"), box.clock, 18);
  const halfway = await statement(driver);
  assert.equal(halfway.complete, false);
  assert.match(halfway.why ?? "", /has reached 2026-/);
  const before = box.asked.length;
  const again = await bench(box, driver, { itemsPerWindow: 25 });
  await drain(sweepNew(again.context, "order"), box.clock);
  assert.deepEqual(await known(driver, "order"), ids(box));
  assert.equal((await statement(driver)).complete, true);
  const starts = box.asked.slice(before).map((url) =>
    url.searchParams.get("start_date")
  );
  const oldest = filterStart(box);
  assert.ok(!starts.includes(oldest), "it began again from the start");
  await driver.close();
});

function filterStart({ asked }: Service): string | null {
  return asked.map((url) => url.searchParams.get("start_date"))
    .find((start) => start !== null) ?? null;
}

Deno.test("sweepNew() then reads on from the latest order the service has shown", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 30,
    fromMs: startMs - 30 * day,
    untilMs: startMs - day,
  });
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  await box.clock.advance(3_600_000);
  for (let i = 0; i < 45; i++) box.sandbox.createOrder();
  const before = box.asked.length;
  await drain(sweepNew(context, "order"), box.clock);
  assert.deepEqual(await known(driver, "order"), ids(box));
  assert.ok(box.asked.length - before <= 6);
  await driver.close();
});

Deno.test("sweepNew() reads on by creation time where every cursor leads back", async () => {
  await using box = service();
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  box.sandbox.setFaults({ endlessCursor: 1 });
  for (let i = 0; i < 75; i++) {
    await box.clock.advance(2000);
    box.sandbox.createOrder();
  }
  await drain(sweepNew(context, "order"), box.clock);
  assert.deepEqual(await known(driver, "order"), ids(box));
  await driver.close();
});

Deno.test("sweepNew() finds an order that shows up late, within the overlap", async () => {
  await using box = service();
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  box.sandbox.createOrder({}, startMs - 5000);
  await drain(sweepNew(context, "order"), box.clock);
  box.sandbox.createOrder({}, startMs - 100_000);
  await drain(sweepNew(context, "order"), box.clock);
  assert.deepEqual(await known(driver, "order"), ids(box));
  await driver.close();
});

Deno.test("sweepNew() loses nobody while rows come in, in the same second, at page edges", async () => {
  const faults = {
    pageInsert: 0.3,
    pageShort: 0.3,
    pageChange: 0.3,
    totalWrong: 0.3,
    totalMissing: 0.3,
    sameSecond: 0.5,
  };
  for (const seed of [1, 2, 3, 4, 5]) {
    await using box = service({ seed });
    box.sandbox.backfill({
      orders: 90,
      fromMs: startMs - 3_600_000,
      untilMs: startMs - 60_000,
    });
    for (let i = 0; i < 30; i++) box.sandbox.createOrder({}, startMs - 60_000);
    box.sandbox.setFaults(faults);
    const driver = await storeOnly();
    const { context } = await bench(box, driver, { itemsPerWindow: 30 });
    await drain(sweepNew(context, "order"), box.clock);
    box.sandbox.heal();
    await drain(sweepNew(context, "order"), box.clock);
    assert.deepEqual(await known(driver, "order"), ids(box), `seed ${seed}`);
    assert.equal((await statement(driver)).complete, true, `seed ${seed}`);
    await driver.close();
  }
});

Deno.test("sweepNew() says honestly what it could not prove, and proves it later", async () => {
  let hidden = 0;
  await using box = service({}, (url, { setFaults: _ }) => {
    if (url.searchParams.get("order_by") === "desc") hidden += 1;
  });
  box.sandbox.backfill({
    orders: 25,
    fromMs: startMs - 30 * day,
    untilMs: startMs - day,
  });
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  const { list } = context.client.orders;
  let broken = true;
  const client = {
    ...context.client,
    orders: {
      ...context.client.orders,
      list: ((query, options) => {
        const walk = list(query, options);
        if (!broken || options?.prove !== true) return walk;
        const completeness = () => ({
          ...walk.completeness,
          complete: false as const,
          reason: { code: "one_pass" as const },
          why: "The passes differ",
        });
        return {
          pages: () => walk.pages(),
          get completeness() {
            return completeness();
          },
        };
      }) as typeof list,
    },
  };
  await drain(sweepNew({ ...context, client }, "order"), box.clock);
  assert.equal(hidden > 0, true);
  const first = await statement(driver);
  assert.equal(first.complete, false);
  assert.match(first.why ?? "", /^The passes differ \(from 20/);
  assert.equal(first.gaps.length, 1);
  broken = false;
  await drain(sweepNew({ ...context, client }, "order"), box.clock);
  assert.equal((await statement(driver)).complete, true);
  await driver.close();
});

Deno.test("sweepNew() does not mind a service clock ten minutes off", async () => {
  for (const clockSkewMs of [600_000, -600_000]) {
    await using box = service({ faults: { clockSkewMs } });
    for (let i = 0; i < 5; i++) box.sandbox.createOrder();
    const driver = await storeOnly();
    const { context } = await bench(box, driver);
    await drain(sweepNew(context, "order"), box.clock);
    await box.clock.advance(300_000);
    for (let i = 0; i < 5; i++) box.sandbox.createOrder();
    await drain(sweepNew(context, "order"), box.clock);
    assert.equal((await known(driver, "order")).length, 10);
    await driver.close();
  }
});

Deno.test("sweepNew() of an empty service is complete at once", async () => {
  await using box = service();
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  assert.ok(await drain(sweepNew(context, "order"), box.clock) <= 3);
  assert.equal((await statement(driver)).complete, true);
  box.sandbox.createOrder();
  await drain(sweepNew(context, "order"), box.clock);
  assert.deepEqual(await known(driver, "order"), ids(box));
  await driver.close();
});

Deno.test("sweepNew() reads what is new where a window of the past always fails", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 30,
    fromMs: startMs - 30 * day,
    untilMs: startMs - day,
  });
  box.refuse = (url) =>
    url.searchParams.has("end_date")
      ? new Response("{}", { status: 500 })
      : null;
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  const order = box.sandbox.createOrder();
  await assert.rejects(drain(sweepNew(context, "order"), box.clock), {
    name: "ServiceError",
  });
  assert.deepEqual(await known(driver, "order"), [order.orderId]);
  assert.equal((await statement(driver)).complete, false);
  box.refuse = () => null;
  await drain(sweepNew(context, "order"), box.clock);
  assert.equal((await known(driver, "order")).length, 31);
  await driver.close();
});
