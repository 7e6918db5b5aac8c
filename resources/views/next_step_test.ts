import assert from "node:assert/strict";
import {
  at,
  orderRead,
  session,
} from "../../ledger/testing/projection_test_kit.ts";
import {
  chainLook,
  facts,
  ORDER,
  orderRead as givenRead,
  session as givenSession,
  TX,
} from "../../ledger/testing/given_facts.ts";
import { outcomeNow } from "../../ledger/for_resources.ts";
import { emptyLedger, foldOrder } from "../../ledger/testing/mod.ts";
import { orderState } from "../../ledger/for_sync.ts";
import { VERDICTS } from "../../core/chain/verdict.ts";
import { ARRIVED } from "../wording/release.ts";
import { customerMessage, orderJson } from "./order_view.ts";

const NOW_MS = Date.parse("2026-11-20T12:00:00Z");
const ADA = { by: "Ada", why: "at the counter" } as const;

Deno.test("nextStep() of a release that nobody was told of names the commands that end it, and they do", async () => {
  await using ledger = await emptyLedger({
    now: () => NOW_MS,
    goLive: at(10),
  });
  const orderId = "01KA'O1";
  await ledger.append([
    orderRead(12, { orderId, status: "success", tx: "0xT", click: "C1" }),
  ]);
  await ledger.project();
  // Only now is its basket recorded, as asked for before the order.
  await ledger.append([session(0, "S1", "C1", "10", "basket-1")]);
  await ledger.project();
  const read = async () => {
    const order = await ledger.orders.get(orderId);
    assert.ok(order !== null);
    return orderJson(order, NOW_MS);
  };
  const { attention, outcome: { next } } = await read();
  assert.deepEqual(attention, ["yes_withheld"]);
  const quoted = String.raw`$'01KA\047O1'`;
  assert.ok(next.includes(`\`rampkit release ${quoted} --delivered\``), next);
  const [, key = ""] = /`rampkit subscriptions fire ([^`]+)`/.exec(next) ?? [];
  assert.equal(key, String.raw`$'order:01KA\047O1:release.yes'`);
  const fired = await ledger.subscriptions.fire([
    `order:${orderId}:release.yes`,
  ]);
  assert.equal(fired, 1);
  const after = await read();
  assert.deepEqual(after.attention, []);
  assert.equal(after.outcome.next, "Release what `expected.reference` names.");
});

Deno.test("nextStep() and customerMessage() of an order that a person has dealt with tell nobody to do it again", async () => {
  await using ledger = await emptyLedger({
    now: () => NOW_MS,
  });
  const paid = { status: "success", tx: "0xT" };
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(5, { ...paid, orderId: "O1", click: "C1" }),
    orderRead(5, { ...paid, orderId: "O2" }),
    orderRead(5, { orderId: "O3", status: "pending" }),
  ]);
  await ledger.project();
  await ledger.release("O1", { ...ADA, outcome: "refunded" });
  const sure = { ...ADA, newReference: true, confirmed: true };
  await ledger.release("O2", { ...sure, outcome: "delivered", for: "b" });
  await ledger.release("O3", { ...sure, outcome: "delivered", for: "c" });
  await ledger.project();
  const said = async (id: string) => {
    const order = await ledger.orders.get(id);
    assert.ok(order !== null);
    const { next, customer } = orderJson(order, NOW_MS).outcome;
    return `${next} ${customer}`;
  };
  assert.match(await said("O1"), /^Nothing: .*refunded.*returned the money/);
  assert.match(await said("O2"), /^Nothing: .*delivered.*been delivered/);
  assert.doesNotMatch(await said("O3"), /delivered/, "it is not paid yet");
});

Deno.test("customerMessage() says that the crypto has arrived only after a final look that delivered all of it", () => {
  const asked = givenSession(0, { currency: "USD", currency_amount: "30" });
  const read = givenRead(9, "success", 5, { tx_id: TX });
  const told = (changes: Parameters<typeof chainLook>[1]) => {
    const look = chainLook(10, changes);
    const order = orderState(foldOrder(ORDER, facts(asked, read, look)));
    const outcome = outcomeNow(order, NOW_MS);
    return customerMessage({ order, outcome });
  };
  assert.equal(told({}), ARRIVED);
  for (const verdict of VERDICTS) {
    assert.notEqual(told({ verdict, final: false }), ARRIVED, verdict);
    if (verdict !== "delivered") {
      const short = { verdict, arrived: "0.0122", tolerance: "1" };
      assert.notEqual(told(short), ARRIVED, verdict);
    }
  }
});
