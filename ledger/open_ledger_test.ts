import assert from "node:assert/strict";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";
import type { Delivery } from "../core/wire/objects.ts";
import { openLedger } from "./open_ledger.ts";

function delivery(at: number): Delivery {
  const order = { id: `O${at}`, quote: "USD", quote_amount: "10" };
  const body = { type: "payment_started", click_id: `C${at}`, order };
  return {
    id: `D${String(at).padStart(6, "0")}`,
    receivedAt: "2026-11-20T08:00:00.000Z",
    body: new TextEncoder().encode(JSON.stringify(body)),
  };
}

Deno.test("appends are answered while the thread that owns the file folds many events", async () => {
  await using folder = await temporaryFolder();
  const url = `file:${folder.path}/ledger.db`;
  await using ledger = await openLedger({ url, environment: "sandbox" });
  await Promise.all(
    Array.from(
      { length: 4000 },
      (_, at) => ledger.appendDelivery(delivery(at)),
    ),
  );
  let isFolded = false;
  const folding = ledger.project().then(() => isFolded = true);
  let answered = 0;
  for (let at = 4000; at < 4003; at++) {
    await ledger.appendDelivery(delivery(at));
    if (!isFolded) answered++;
  }
  await folding;
  await ledger.project();
  assert.equal(answered, 3);
  assert.equal(await ledger.lag(), 0);
  const { events, chain } = await ledger.stats();
  assert.deepEqual([events.webhook, chain.count], [4003, 4003]);
  assert.equal((await ledger.orders.get("O4002"))?.status, "progress");
});

Deno.test("a ledger goes live with its first delivery, and at no other time afterwards", async () => {
  const now = () => Date.parse("2026-11-20T09:00:00.000Z");
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    now,
  });
  await ledger.appendDelivery(delivery(1));
  assert.equal(await ledger.goLive(), "2026-11-20T08:00:00.000Z");
  await assert.rejects(ledger.goLive("2026-11-20T10:00:00Z"), {
    name: "LedgerError",
  });
  await assert.rejects(ledger.goLive("tomorrow"), TypeError);
});

Deno.test("terms of a click id that is still valid for another reference are refused, folded or not", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
  });
  const terms = { clickId: "C1", currency: "USD", currencyAmount: "10" };
  await ledger.expect({ ...terms, reference: "b1" });
  const other = () => ledger.expect({ ...terms, reference: "b2" });
  await assert.rejects(other(), { code: "click_id_in_use" });
  await ledger.project();
  await assert.rejects(other(), { code: "click_id_in_use" });
  await ledger.expect({ ...terms, reference: "b1", currencyAmount: "12" });
});
