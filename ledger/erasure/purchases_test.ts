import assert from "node:assert/strict";
import { orderRead, rowsOf, session } from "../testing/projection_test_kit.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

/** An order of a person that pays for a basket. */
const paid = (
  minute: number,
  order: {
    readonly orderId: string;
    readonly click: string;
    readonly user: string;
  },
) =>
  orderRead(minute, {
    ...order,
    status: "success",
    created: minute - 1,
    tx: "0xT",
  });

for (const taken of ["erase", "prune"] as const) {
  Deno.test(`Erasures.${taken}() leaves purchases taken: a yes stays one, and no second order of the basket gets one`, async () => {
    await using ledger = await emptyLedger();
    await ledger.append([
      session(0, "S1", "C1", "10", "basket-1"),
      paid(5, { orderId: "O1", click: "C1", user: "U1" }),
    ]);
    await ledger.project();
    const purchases = () =>
      rowsOf(
        ledger.driver,
        "SELECT p.name, o.id FROM purchases AS p JOIN orders AS o USING (no) WHERE p.held",
      );
    const before = await purchases();
    assert.deepEqual(before.map(([, orderId]) => orderId), ["O1"]);
    if (taken === "erase") await ledger.erasures.erase("U1", { force: true });
    else await ledger.erasures.prune("2030-01-01T00:00:00.000Z");
    await ledger.project();
    assert.deepEqual(await purchases(), before);
    assert.equal((await ledger.orders.get("O1"))?.release, "yes");
    await ledger.append([
      session(7, "S2", "C2", "10", "basket-1"),
      paid(9, { orderId: "O2", click: "C2", user: "U2" }),
    ]);
    await ledger.project();
    await ledger.refold();
    await ledger.project();
    assert.deepEqual(await purchases(), before);
    const second = await ledger.orders.get("O2");
    assert.deepEqual([second?.release, second?.releaseReason], [
      "wait",
      "paid_twice",
    ]);
    assert.equal((await ledger.orders.get("O1"))?.release, "yes");
    const told = (await ledger.transitions()).filter(({ logged }) => logged);
    assert.deepEqual(told.map(({ key }) => key), [
      "order:O1:release.yes",
      "order:O2:release.wait",
    ]);
  });
}
