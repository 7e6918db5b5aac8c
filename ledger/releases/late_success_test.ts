import assert from "node:assert/strict";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { at, expectation, orderRead } from "../testing/projection_test_kit.ts";

const ORDER = { orderId: "O1", click: "C1", created: 0 };
const asked = (id: string, minute: number, amount: string) =>
  expectation(id, minute, { click: "C1", reference: "r1", amount });
const success = (minute: number) =>
  orderRead(minute, { ...ORDER, status: "success", tx: "T" });

Deno.test("Ledger.import() of an earlier success brings a yes that waits for a person, of an order of which something was sent", async () => {
  const now = () => Date.parse(at(20));
  await using ledger = await emptyLedger({ now });
  await ledger.append([
    asked("E1", -1, "10"),
    orderRead(1, { ...ORDER, status: "pending" }),
    asked("E2", 7, "900"),
    success(9),
  ]);
  await ledger.project();
  const said = async () => {
    const order = await ledger.orders.get("O1");
    return `${order?.release} ${order?.releaseReason}`;
  };
  assert.equal(await said(), "wait not_as_requested");
  await using earlier = await emptyLedger({ now });
  await earlier.append([success(6)]);
  await ledger.import(earlier.export());
  await ledger.project();
  assert.equal(await said(), "yes session_matched");
  const waiting = await Array.fromAsync(
    ledger.attention(),
    ({ kinds }) => kinds.join(),
  );
  assert.deepEqual(waiting, ["yes_withheld"]);
  const entered = await ledger.transitions({ entity: "order" });
  const yes = entered.filter(({ key }) => key === "order:O1:release.yes");
  assert.deepEqual(yes.map(({ live }) => live), [false]);
});
