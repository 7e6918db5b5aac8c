import assert from "node:assert/strict";
import { dataSources } from "../../client/testing/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  ledgerFor,
  pollOnce,
  rows,
  type Service,
  service,
  startMs,
} from "../testing/polling_test_kit.ts";

const hour = 3_600_000;
const decoder = new TextDecoder();
const nested = "[".repeat(5000) + "]".repeat(5000);

/** A service that shows one of its rows with other fields, or without any. */
async function oddService(
  place: number,
  change: (row: string) => string,
  path: "orders" | "users" = "orders",
): Promise<{ box: Service; ledger: Ledger; oddId: string }> {
  const idField = path === "orders" ? "order_id" : "user_id";
  let oddId = "";
  const box = service({}, () => {}, (text, url) => {
    if (!url.pathname.endsWith(path)) return text;
    return dataSources(text).reduce(
      (page, row) =>
        JSON.parse(row)[idField] === oddId
          ? page.replace(row, () => change(row))
          : page,
      text,
    );
  });
  box.sandbox.backfill({
    orders: 60,
    fromMs: startMs - 48 * hour,
    untilMs: startMs - hour,
  });
  const order = box.sandbox.truth()[place];
  oddId = (path === "orders" ? order?.orderId : order?.userId) ?? "";
  const ledger = await ledgerFor(box);
  return { box, ledger, oddId };
}

async function idsOf(ledger: Ledger): Promise<string[]> {
  const ids: string[] = [];
  for await (const order of ledger.orders.list()) ids.push(order.orderId);
  return ids;
}

for (
  const [fields, field] of [
    ['"payment_type":true', "payment_type"],
    ['"card_brand":["VISA"]', "card_brand"],
    ['"crypto_amount":"N/A"', "crypto_amount"],
    ['"crypto_amount":"1,5"', "crypto_amount"],
    ['"status":null', "status"],
    ['"tx_id":{"hash":"0xabc"}', "tx_id"],
    ['"currency_amount":true', "currency_amount"],
    ['"click_id":"a\\u0000b"', "click_id"],
    [`"additional_data":${nested}`, "additional_data"],
  ] as const
) {
  Deno.test(`once() stores all sixty orders when one has ${fields.slice(0, 40)}`, async () => {
    const odd = await oddService(31, (row) => `${row.slice(0, -1)},${fields}}`);
    await using box = odd.box;
    await using ledger = odd.ledger;
    const report = await pollOnce(box, ledger);
    assert.equal((await idsOf(ledger)).length, 60);
    assert.equal(report.status.orders.complete, true);
    const truth = new Map(
      box.sandbox.truth().map((order) => [order.orderId, order]),
    );
    for await (const order of ledger.orders.list()) {
      if (order.orderId === odd.oddId) continue;
      assert.equal(order.status, truth.get(order.orderId)?.status);
      assert.equal(order.trust, "confirmed");
    }
    // The row is kept whole, whatever of it could be read.
    const [[body] = []] = await rows(
      ledger.driver,
      "SELECT e.body FROM orders AS o JOIN mentions AS m ON m.no = o.no JOIN events AS e ON e.position = m.position WHERE o.id = ? AND e.kind = 'order_snapshot'",
      odd.oddId,
    );
    assert.ok(decoder.decode(body as Uint8Array).endsWith(`,${fields}}`));
    const state = await ledger.orders.get(odd.oddId);
    assert.deepEqual(
      state?.anomalies.filter(({ kind }) => kind === "unreadable_field")
        .map((anomaly) => anomaly.field),
      [field],
    );
  });
}

for (
  const row of ["null", "{}", '"row"', '{"order_id":"","status":"success"}']
) {
  Deno.test(`once() stores the other orders beside the row ${row}, and proves nothing of its window`, async () => {
    for (const place of [0, 31]) {
      const odd = await oddService(place, () => row);
      await using box = odd.box;
      await using ledger = odd.ledger;
      const report = await pollOnce(box, ledger);
      const ids = await idsOf(ledger);
      assert.equal(ids.length, 59);
      assert.ok(!ids.includes(odd.oddId));
      const { orders, users } = report.status;
      assert.equal(orders.complete, false);
      assert.match(String(orders.why), /a row without a usable identifier/);
      assert.equal(users.complete, true);
    }
  });
}

Deno.test("once() stores every user when one is odd, and proves nothing beside a user without id", async () => {
  const sound = await oddService(
    31,
    (row) => `${row.slice(0, -1)},"banned":"no","limits":[1],"phone":{}}`,
    "users",
  );
  await using box = sound.box;
  await using ledger = sound.ledger;
  const all = new Set(box.sandbox.truth().map(({ userId }) => userId)).size;
  const report = await pollOnce(box, ledger);
  assert.equal((await ledger.stats()).users, all);
  assert.equal(report.status.users.complete, true);
  const user = await ledger.users.get(sound.oddId);
  assert.deepEqual(
    user?.anomalies.map((anomaly) =>
      anomaly.kind === "unreadable_field" && `${anomaly.field} ${anomaly.value}`
    ),
    ["banned text", "limits array", "phone object"],
  );

  const unnamed = await oddService(31, () => "{}", "users");
  await using unnamedBox = unnamed.box;
  await using other = unnamed.ledger;
  const incomplete = await pollOnce(unnamedBox, other);
  assert.equal((await other.stats()).orders, 60);
  assert.equal(incomplete.status.users.complete, false);
  assert.match(String(incomplete.status.users.why), /without a usable/);
});

Deno.test("once() finds a forged order absent although another row of its batch has no id", async () => {
  const odd = await oddService(31, () => '{"status":"success"}');
  await using box = odd.box;
  await using ledger = odd.ledger;
  const ids = [odd.oddId, "FORGED-1", "FORGED-2", "FORGED-3"];
  for (const [at, orderId] of ids.entries()) {
    await ledger.appendDelivery({
      id: `01KA${String(at).padStart(22, "0")}`,
      receivedAt: new Date(box.clock.now()).toISOString(),
      body: new TextEncoder().encode(
        JSON.stringify({ type: "order_complete", order: { id: orderId } }),
      ),
    });
  }
  await ledger.project();
  await pollOnce(box, ledger);
  for (const orderId of ids) {
    const state = await ledger.orders.get(orderId);
    const isAbsent = state?.anomalies.some(({ kind }) => kind === "absent");
    // The row without an id may be this order.
    assert.equal(isAbsent, orderId !== odd.oddId, orderId);
  }
});
