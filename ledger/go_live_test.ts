import assert from "node:assert/strict";
import { concatenated } from "../core/bytes.ts";
import { deliveryRecord } from "../core/wire/delivery_records.ts";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";
import { webhookEvent } from "./events/mint.ts";
import { type Ledger, openLedger } from "./mod.ts";
import { selectGoLive } from "./store/tables/go_live.ts";
import { at, orderRead } from "./testing/projection_test_kit.ts";
import { emptyLedger } from "./testing/empty_ledger.ts";

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
  await using ledger = await emptyLedger({
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
  await using ledger = await emptyLedger({
    goLive: "2026-11-20T17:00:00+01:00",
  });
  assert.equal(await ledger.goLive(), "2026-11-20T16:00:00.000Z");
  await assert.rejects(ledger.goLive("2026-11-21T16:00:00Z"), /gone live at/);
});

const utf8 = new TextEncoder();

const delivery = (id: string, minute: number, orderId = "new") => ({
  id,
  receivedAt: at(minute),
  body: utf8.encode(
    JSON.stringify({ type: "order_complete", order: { id: orderId } }),
  ),
});

/** When a ledger went live; null before it has. */
async function liveSince(ledger: Ledger): Promise<unknown> {
  const [found] = await ledger.driver.batch([selectGoLive], "read");
  return found?.rows[0]?.[0];
}

Deno.test.each([{ worker: true }, { worker: false }])(
  "a ledger goes live with the first delivery, in one commit, and not by events, readings or an import (%o)",
  async ({ worker }) => {
    await using folder = await temporaryFolder();
    const open = (name: string) =>
      openLedger({
        url: `file:${folder.path}/${name}.db`,
        environment: "sandbox",
        worker,
        now: () => Date.parse(at(60)),
      });
    await using source = await open("source");
    await source.expect({ clickId: "C", currency: "USD", currencyAmount: "1" });
    await source.append([paid("read", "C-old", 5)]);
    await source.append([webhookEvent(
      delivery("replayed", 20),
      new Uint8Array(16),
    )]);
    await source.project();
    assert.equal(await liveSince(source), null);
    await using ledger = await open("ledger");
    await ledger.import(source.export());
    await ledger.project();
    assert.equal(await liveSince(ledger), null);

    // A commit that fails does not go live.
    await assert.rejects(
      ledger.appendDelivery({ ...delivery("D0", 40), id: "\ud800" }),
    );
    assert.equal(await liveSince(ledger), null);
    await Promise.all([
      ledger.appendDelivery(delivery("D2", 42)),
      ledger.appendDelivery(delivery("D1", 41)),
    ]);
    assert.equal(await liveSince(ledger), at(41));
    await ledger.appendDelivery(delivery("D3", 30));
    assert.equal(await liveSince(ledger), at(41), "once");

    const told: string[] = [];
    const goods = await ledger.subscribe(
      "goods",
      { on: ["order.confirmed.*", "order.release.*"], start: false },
      ({ key }) => void told.push(key),
    );
    await ledger.append([paid("old", "C-old", 30), paid("new", "C", 45)]);
    await ledger.project();
    await goods.dispatch();
    assert.deepEqual(told, [
      "order:new:confirmed.success",
      "order:new:release.unchecked",
    ]);
    assert.equal((await ledger.historic()).orders, 1);
  },
);

Deno.test("a ledger goes live with the first delivery that a spool hands over", async () => {
  await using ledger = await emptyLedger();
  const records = [12, 11].map((minute, at) =>
    deliveryRecord(delivery(`01M7VZGC0000000000000000D${at}`, minute))
  );
  await ledger.appendRecords(concatenated(records));
  assert.equal(await liveSince(ledger), at(11));
});
