import assert from "node:assert/strict";
import { orderReleased } from "../events/mint.ts";
import type { Ledger } from "../ledger.ts";
import { at, expectation, orderRead } from "../testing/projection_test_kit.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

const salt = new Uint8Array(16);

const paid = (minute: number, orderId: string, click = "C1") =>
  orderRead(minute, {
    orderId,
    status: "success",
    click,
    tx: "0xT",
    created: 2,
    changed: 3,
  });

const delivered = (minute: number, orderId: string, reference: string) =>
  orderReleased({
    released: {
      order_id: orderId,
      outcome: "delivered",
      by: "Ada",
      why: "paid at the counter",
      for: reference,
    },
    recordedAt: at(minute),
    salt,
  });

/** What `asOf()`, `explain()` and `ordersAsOf()` say of an order at a minute. */
async function saidAt(ledger: Ledger, orderId: string, minute: number) {
  const time = at(minute);
  const said = (
    state:
      | {
        readonly release: string;
        readonly releaseReason: string;
        readonly byHand: { readonly outcome: string } | null;
      }
      | null
      | undefined,
  ) =>
    state
      ? `${state.release} ${state.releaseReason} ${
        state.byHand?.outcome ?? "-"
      }`
      : null;
  const all = await Array.fromAsync(ledger.ordersAsOf({ time }));
  const asOf = said(await ledger.asOf(orderId, time));
  assert.equal(said((await ledger.explain(orderId, time))?.state), asOf);
  assert.equal(
    said(all.find((one) => one.orderId === orderId)),
    asOf,
  );
  return asOf;
}

Deno.test("Ledger.asOf(), explain() and ordersAsOf() go by the expectations, the persons and the other orders of then", async () => {
  await using ledger = await emptyLedger({
    now: () => Date.parse(at(60)),
  });
  await ledger.append([
    paid(5, "O1"),
    expectation("E1", 10, {
      click: "C1",
      reference: "basket-1",
      amount: "10",
      askedAt: 1,
    }),
    paid(20, "O2"),
    delivered(30, "O2", "basket-1"),
  ]);
  await ledger.project();
  assert.equal(await saidAt(ledger, "O1", 4), null);
  assert.equal(await saidAt(ledger, "O1", 9), "unchecked nothing_recorded -");
  assert.equal(await saidAt(ledger, "O1", 29), "yes session_matched -");
  assert.equal(await saidAt(ledger, "O2", 29), "wait paid_twice -");
  assert.equal(await saidAt(ledger, "O1", 31), "wait paid_twice -");
  assert.match(await saidAt(ledger, "O2", 31) ?? "", / delivered$/);
  const compares = async (minute: number) =>
    (await ledger.asOf("O1", at(minute)))?.context?.compares;
  assert.deepEqual([await compares(9), await compares(10)], [false, true]);
  // Of a position as of a time; and now is what was known last.
  const [first] = await Array.fromAsync(ledger.ordersAsOf({ position: 3 }));
  assert.equal(first?.release, "yes");
  const { release, releaseReason, byHand } = await ledger.orders.get("O1") ??
    assert.fail();
  const now = (await ledger.explain("O1"))?.state;
  assert.deepEqual(
    [now?.release, now?.releaseReason, now?.byHand],
    [release, releaseReason, byHand],
  );
});
