import assert from "node:assert/strict";
import type { Fact } from "../events/fact.ts";
import { FOLD_VERSION } from "../projection/fold_version.ts";
import { Projector } from "../projection/projector.ts";
import { readTransitions } from "../store/tables/transitions.ts";
import {
  at,
  emptyStore,
  foldVersion,
  orderRead,
  rowsOf,
  session,
} from "../testing/projection_test_kit.ts";
import { opened, record } from "../testing/subscription_test_kit.ts";
import { refold } from "./refold.ts";

/** A fold that takes no transaction in. */
const withoutTx = (fact: Fact): Fact =>
  fact.kind === "order_snapshot"
    ? { ...fact, reading: { ...fact.reading, txId: "" } }
    : fact;

const paid = orderRead(5, {
  orderId: "O1",
  status: "success",
  click: "C1",
  tx: "0xT",
  created: 2,
  changed: 3,
});

Deno.test("refold() logs, as not live, the release of an order that a new version of the fold moves", async () => {
  const driver = await emptyStore();
  await record(driver, session(0, "S1", "C1"), paid);
  const told: string[] = [];
  await using subscription = await opened(driver, ({ key }) => {
    told.push(key);
  }, { on: "order.release.*" });
  await subscription.dispatch();
  for (
    const [version, change] of [
      [FOLD_VERSION + 1, withoutTx],
      [FOLD_VERSION + 2, (fact: Fact) => fact],
    ] as const
  ) {
    const projector = new Projector({
      driver,
      assets: "sandbox",
      fold: foldVersion(version, change),
    });
    await refold(projector, driver, { compare: false });
  }
  await subscription.dispatch();
  assert.deepEqual(told, ["order:O1:release.yes"]);
  const log = await readTransitions(driver, { id: "O1" });
  assert.deepEqual(
    log.filter(({ logged }) => logged !== null)
      .map(({ key, live, reverses }) => [key, live, reverses]),
    [
      ["order:O1:release.yes", true, []],
      ["order:O1:release.wait", false, ["yes"]],
      ["order:O1:release.restored", false, []],
    ],
  );
  const withheld = await rowsOf(
    driver,
    "SELECT status FROM transitions WHERE withheld = 1",
  );
  assert.deepEqual(withheld, [["wait"]]);
  await driver.close();
});

Deno.test("refold() seeds the release log of a ledger that had none, and tells nobody", async () => {
  const driver = await emptyStore();
  await record(driver, session(0, "S1", "C1"), paid);
  await driver.batch([
    { sql: "DELETE FROM transitions WHERE machine = 'release'", args: [] },
    { sql: "DELETE FROM purchases", args: [] },
    { sql: "UPDATE projections SET fold_version = 4", args: [] },
  ], "write");
  const projector = new Projector({
    driver,
    assets: "sandbox",
    fold: foldVersion(FOLD_VERSION + 1),
  });
  await refold(projector, driver, { compare: false });
  assert.deepEqual(await rowsOf(driver, "SELECT go_live FROM rampkit"), [
    [at(5)],
  ]);
  const log = await readTransitions(driver, { id: "O1" });
  assert.deepEqual(
    log.filter(({ logged }) => logged !== null)
      .map(({ key, live }) => [key, live]),
    [["order:O1:release.yes", false]],
  );
  assert.equal((await rowsOf(driver, "SELECT * FROM purchases")).length, 1);
  assert.deepEqual(
    await rowsOf(driver, "SELECT seq FROM transitions WHERE withheld = 1"),
    [],
  );
  await driver.close();
});
