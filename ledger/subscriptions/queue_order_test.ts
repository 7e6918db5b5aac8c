import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import { until } from "../../tests/kit/until.ts";
import { record } from "../testing/subscription_kit.ts";
import type { Driver } from "../store/database.ts";
import { at, orderRead, rowsOf } from "../testing/projection_test_kit.ts";
import { Subscription } from "./dispatcher.ts";
import type { TransitionHandler } from "./outbox.ts";

const reading = (orderId: string, step: number, status: string) =>
  orderRead(step, { orderId, status, changed: step });

async function opened(
  driver: Driver,
  now: () => number,
  handler: TransitionHandler,
): Promise<Subscription> {
  const subscription = new Subscription({
    driver,
    assets: "sandbox",
    now,
    name: "test",
    options: {
      on: "order.*.*",
      from: "start",
      start: false,
      concurrency: 1,
      retryDelayMs: () => 1000,
    },
    handler,
  });
  await subscription.open();
  return subscription;
}

Deno.test("Subscription.dispatch() lets what is read later wait behind what waits in its lane", async () => {
  const driver = await newLedger();
  let nowMs = Date.parse(at(60));
  await record(driver, reading("A", 0, "created"));
  const failing = await opened(driver, () => nowMs, () => {
    throw new Error("not yet");
  });
  await failing.dispatch();
  const queued = () =>
    rowsOf(driver, "SELECT seq FROM outbox WHERE attempts > 0");
  assert.equal((await queued()).length, 1);

  await record(
    driver,
    reading("A", 1, "progress"),
    reading("SLOW", 2, "created"),
  );
  nowMs += 60_000;
  let reads = 0;
  const counting: Driver = {
    location: driver.location,
    batch: (statements, mode) => {
      if (mode === "read") reads++;
      return driver.batch(statements, mode);
    },
    close: () => driver.close(),
  };
  const taken: string[] = [];
  const slow = Promise.withResolvers<void>();
  await using subscription = await opened(
    counting,
    () => nowMs,
    ({ id, status }) => {
      if (id === "SLOW") return slow.promise;
      taken.push(status);
      return Promise.resolve();
    },
  );
  const dispatched = subscription.dispatch();
  // The first of A is delivered and written, and SLOW has the only lane.
  await until(async () => (await queued()).length === 0);
  await record(driver, reading("A", 3, "pending"));
  const before = reads;
  await until(() => reads >= before + 3);
  slow.resolve();
  await dispatched;
  await subscription.dispatch();
  assert.deepEqual(taken, ["created", "progress", "pending"]);
  assert.deepEqual(await queued(), []);
  await driver.close();
});
