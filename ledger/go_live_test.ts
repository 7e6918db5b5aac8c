import assert from "node:assert/strict";
import { openLedger } from "./mod.ts";
import { at, orderRead } from "./testing/projection_test_kit.ts";

/** An order of the service, paid as its basket asked for. */
const paid = (orderId: string, click: string, created: number) =>
  orderRead(61, {
    orderId,
    status: "success",
    click,
    tx: "0xT",
    created,
    changed: created + 3,
  });

Deno.test("a lost ledger begun anew ships what was open, and not what was shipped before", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    now: () => Date.parse(at(60)),
  });
  // 1. The baskets that are still open, at the time they were asked for.
  await ledger.expect({
    clickId: "C-open",
    reference: "basket-open",
    currency: "USD",
    currencyAmount: "10",
    askedAt: at(10),
  });
  // 2. Live from the last transition that was acted on.
  await ledger.goLive(at(30));
  const released: string[] = [];
  const goods = await ledger.subscribe(
    "goods",
    { on: ["order.release.yes", "order.release.unchecked"], start: false },
    ({ key }, { reference }) => {
      released.push(`${reference} ${key}`);
    },
  );
  // 3. The service is read from the beginning.
  await ledger.append([
    paid("shipped", "C-old", 5),
    paid("open", "C-open", 11),
    paid("later", "C-new", 50),
  ]);
  await ledger.project();
  await goods.dispatch();
  assert.deepEqual(released, [
    "basket-open order:open:release.yes",
    "null order:later:release.unchecked",
  ]);
  assert.deepEqual(await ledger.historic(), {
    orders: 1,
    users: 0,
    listed: 1,
  });
});

Deno.test("openLedger() goes live at the time that is named, and refuses another", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    goLive: "2026-11-20T17:00:00+01:00",
  });
  assert.equal(await ledger.goLive(), "2026-11-20T16:00:00.000Z");
  await assert.rejects(ledger.goLive("2026-11-21T16:00:00Z"), /gone live at/);
});
