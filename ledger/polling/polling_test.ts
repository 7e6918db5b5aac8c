import assert from "node:assert/strict";
import { type Driver, LedgerError, type Statement } from "../store/database.ts";
import { at, orderRead, orderWebhook } from "../testing/projection_test_kit.ts";
import { append, newLedger, projectAll } from "../testing/fold_kit.ts";
import {
  deleteConfirmed,
  drawUnknown,
  forgetIsolated,
  isolatedIdsOf,
  readOpenOrders,
  requestOrder,
  restUntil,
  selectIsolated,
  selectKnown,
  selectRefused,
  upsertIsolated,
  waitingOf,
} from "./requests.ts";
import {
  insertObservedChanges,
  KEEP_CHANGES_MS,
  moveVersion,
  type Observation,
  readObservations,
  readObservedChanges,
  tidyObservedChanges,
  writeObservations,
} from "./observations.ts";

const ms = (minute: number) => Date.parse(at(minute));

Deno.test("a reading that was asked for earlier does not take the place of a later one", async () => {
  const driver = await newLedger();
  await driver.batch([write(reading(10, "later"))], "write");
  await driver.batch([write(reading(5, "earlier"))], "write");
  const { known } = await readObservations(driver, "order", ["A", "B"]);
  assert.deepEqual([...known.keys()], ["A"]);
  assert.deepEqual(known.get("A")?.latest, reading(10, "later"));
  await driver.close();
});

Deno.test("of two writers that read the same observations one fails, and stores nothing", async () => {
  const driver = await newLedger();
  const { version } = await readObservations(driver, "order", ["A"]);
  const batch = (digest: string) =>
    driver.batch(
      [...moveVersion(version), write(reading(5, digest))],
      "write",
    );
  await batch("first");
  await assert.rejects(
    batch("second"),
    (error) => error instanceof LedgerError && error.code === "conflict",
  );
  const { known } = await readObservations(driver, "order", ["A"]);
  assert.equal(known.get("A")?.latest?.digest, "first");
  await driver.close();
});

Deno.test("where no observation is stored, what is folded says what the service said last", async () => {
  const driver = await folded();
  const { known } = await readObservations(driver, "order", ["A"]);
  const { latest, counting } = known.get("A") ?? {};
  assert.equal(latest?.status, "pending");
  assert.equal(latest?.digest, counting?.digest);
  await driver.close();
});

Deno.test("a known order that a webhook names is due until it is confirmed, unless it is named again since", async () => {
  const driver = await folded();
  await append(driver, [paid("w1", 5)]);
  await projectAll(driver);
  const named = () => due(driver, selectKnown("named", "order", ms(60), 10));
  const first = await named();
  assert.deepEqual(first.map((one) => [one.entityId, one.urgency]), [["A", 2]]);
  await append(driver, [paid("w2", 6)]);
  await projectAll(driver);
  await driver.batch([deleteConfirmed("order", first)], "write");
  assert.deepEqual((await named()).map(({ entityId }) => entityId), ["A"]);
  await driver.batch([deleteConfirmed("order", await named())], "write");
  assert.deepEqual(await named(), []);
  await driver.close();
});

Deno.test("an order that may change is due again, after its rest", async () => {
  const driver = await folded();
  const open = (minute: number) =>
    due(driver, selectKnown("open", "order", ms(minute), 10));
  assert.equal((await open(60 * 24)).length, 1);
  await driver.batch([restUntil("open", "order", [["A", ms(120)]])], "write");
  assert.deepEqual(await open(119), []);
  assert.deepEqual((await open(120)).map(({ entityId }) => entityId), ["A"]);
  const [order] = await readOpenOrders(driver, ["A"]);
  assert.deepEqual([order?.orderId, order?.finalAtMs], ["A", null]);
  await driver.close();
});

Deno.test("orders that no reading has shown are all drawn, wherever the drawing begins", async () => {
  const driver = await newLedger();
  await append(driver, [paid("w1", 5), paid("w2", 6, "B"), paid("w3", 7, "C")]);
  await projectAll(driver);
  for (const offset of [0, 0.5, 0.99]) {
    const options = { nowMs: ms(60), offset, limit: 10 };
    const drawn = await due(driver, drawUnknown("named", "order", options));
    const ids = drawn.map(({ entityId }) => entityId);
    assert.deepEqual(ids.sort(), ["A", "B", "C"]);
  }
  await driver.close();
});

Deno.test("requestOrder() makes an order due until it is confirmed", async () => {
  const driver = await folded();
  const named = () => due(driver, selectKnown("named", "order", ms(5), 10));
  assert.deepEqual(await named(), []);
  await requestOrder(driver, "A", ms(5));
  assert.deepEqual((await named()).map(({ entityId }) => entityId), ["A"]);
  await driver.batch([deleteConfirmed("order", await named())], "write");
  assert.deepEqual(await named(), []);
  await driver.close();
});

Deno.test("an id that is set aside is asked for alone, and keeps since when while the kind is the same", async () => {
  const driver = await folded();
  const odd = {
    ...{ entity: "order", entityId: "A", kind: "refused" } as const,
    ...{ why: "said\0 no", since: at(1), attempts: 1, nextAttemptAt: at(9) },
  };
  await driver.batch([upsertIsolated(odd)], "write");
  await driver.batch(
    [upsertIsolated({ ...odd, since: at(2), attempts: 2 })],
    "write",
  );
  const [refused] = await driver.batch([selectRefused(10)], "read");
  assert.deepEqual(refused?.rows.map((row) => row[7]), [1]);
  const kept = { ...odd, why: "said no", attempts: 2 };
  assert.deepEqual(isolatedIdsOf(refused), [kept]);
  const [open] = await due(
    driver,
    selectKnown("open", "order", ms(60 * 24), 10),
  );
  assert.equal(open?.alone, true);
  await driver.batch([forgetIsolated("order", ["A"])], "write");
  const [one] = await driver.batch([selectIsolated("order", "A")], "read");
  assert.deepEqual(isolatedIdsOf(one), []);
  await driver.close();
});

Deno.test("a change that the service showed is kept once, and announced where a webhook says so in time", async () => {
  const driver = await folded();
  const move = (orderId: string, seen: number) => ({
    ...{ orderId, status: "success", movedAt: at(4), seenAt: at(seen) },
  });
  await driver.batch(
    insertObservedChanges([move("A", 6), move("B", 7)]),
    "write",
  );
  await driver.batch(insertObservedChanges([move("A", 8)]), "write");
  const changes = async () =>
    (await readObservedChanges(
      driver,
      { watchedSince: at(0), nowMs: ms(60) },
      10,
    )).map(({ orderId, seenAt, announced }) => [orderId, seenAt, announced])
      .sort();
  assert.deepEqual(await changes(), [["A", at(6), false], [
    "B",
    at(7),
    false,
  ]]);
  await append(driver, [paid("w1", 5)]);
  await projectAll(driver);
  assert.deepEqual(await changes(), [["A", at(6), true], [
    "B",
    at(7),
    false,
  ]]);
  const late = ms(30) + KEEP_CHANGES_MS;
  await driver.batch(tidyObservedChanges(late, 10), "write");
  assert.equal((await changes()).length, 2);
  await driver.close();
});

Deno.test("upsertIsolated() cuts what the service said to text that any database takes", () => {
  const { args } = upsertIsolated({
    ...{ entity: "order", entityId: "A", kind: "refused", attempts: 1 },
    ...{ why: `${"x".repeat(299)}\u{1f600}`, since: at(1) },
    nextAttemptAt: at(9),
  });
  assert.ok(args.every((one) => typeof one !== "string" || one.isWellFormed()));
});

/** A ledger with an order that a reading showed as pending. */
async function folded(): Promise<Driver> {
  const driver = await newLedger();
  await append(driver, [orderRead(3, { orderId: "A", status: "pending" })]);
  await projectAll(driver);
  return driver;
}

function paid(id: string, minute: number, orderId = "A") {
  return orderWebhook(id, minute, { type: "order_complete", orderId });
}

function reading(minute: number, digest: string): Observation {
  return {
    ...{ entityId: "A", requestedAt: at(minute), readAt: at(minute), digest },
    ...{ found: true, status: "pending" },
  };
}

function write(observation: Observation): Statement {
  return writeObservations("order", [observation], ms(60));
}

async function due(driver: Driver, statement: Statement) {
  const [found] = await driver.batch([statement], "read");
  return waitingOf(found);
}
