import assert from "node:assert/strict";
import type { Ledger } from "../ledger.ts";
import { timeOf } from "../store/events.ts";
import { select } from "../testing/fold_kit.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { at, expectation, orderRead } from "../testing/projection_test_kit.ts";

const DAY_MS = 24 * 60 * 60_000;

async function opened() {
  let nowMs = Date.parse("2026-11-20T09:00:00Z");
  const ledger = await emptyLedger({
    now: () => nowMs,
  });
  const pass = (ms: number) => nowMs += ms;
  return { ledger, pass };
}

const IN_USE = { name: "ExpectationError", code: "click_id_in_use" };

/** The same refusals, whether the ledger has folded what it holds or not. */
async function everyWay(check: (ledger: Ledger) => Promise<void>) {
  for (const folds of [false, true]) {
    const { ledger } = await opened();
    await ledger.expect({ clickId: "c-1", reference: "basket-1" });
    await ledger.recordSession({ session_id: "s-1", click_id: "c-2" });
    if (folds) await ledger.project();
    await check(ledger);
    await ledger.close();
  }
}

Deno.test("Ledger.expect() and recordSession() refuse a click id that is still valid for another reference", () =>
  everyWay(async (ledger) => {
    const other = { clickId: "c-1", reference: "basket-2" };
    await assert.rejects(ledger.expect(other), {
      ...IN_USE,
      message:
        'Cannot record what is expected: click_id "c-1" is still valid ' +
        'for the reference "basket-1", until 2026-11-27T09:00:00.000Z; take a ' +
        "new click id for each purchase, or state the same reference",
    });
    await assert.rejects(
      ledger.recordSession({
        session_id: "s-2",
        click_id: "c-1",
        reference: "basket-2",
      }),
      IN_USE,
    );
    await assert.rejects(ledger.expect({ clickId: "c-1" }), IN_USE);
    await assert.rejects(
      ledger.expect({ clickId: "c-2", reference: "basket-1" }),
      /a purchase without a reference/,
    );
    const { events } = await ledger.stats();
    assert.equal(events.order_expected + events.session_created, 2);
  }));

Deno.test("Ledger.expect() takes a click id again for the same reference, and another one for it", () =>
  everyWay(async (ledger) => {
    const same = { reference: "basket-1", currency: "USD" };
    const first = await ledger.expect({ ...same, clickId: "c-1" });
    const second = await ledger.expect({ ...same, clickId: "c-1" });
    assert.ok(second.id > first.id, "what was expected before counts again");
    await ledger.expect({ ...same, clickId: "c-3" });
    await ledger.recordSession({ session_id: "s-3", click_id: "c-2" });
    const { events } = await ledger.stats();
    assert.deepEqual([events.order_expected, events.session_created], [4, 2]);
  }));

Deno.test("Ledger.expect() takes a click id for another reference once it has expired", async () => {
  const { ledger, pass } = await opened();
  await ledger.expect({
    clickId: "c-1",
    reference: "basket-1",
    validForMs: DAY_MS,
  });
  const next = { clickId: "c-1", reference: "basket-2" };
  pass(DAY_MS);
  await assert.rejects(ledger.expect(next), IN_USE);
  pass(1);
  await ledger.expect(next);
  // What was asked for before is refused as well where the two overlap.
  await assert.rejects(
    ledger.expect({
      clickId: "c-1",
      reference: "basket-3",
      askedAt: "2026-11-20T12:00:00Z",
      validForMs: 1,
    }),
    IN_USE,
  );
  await ledger.close();
});

Deno.test("Ledger.expect() and recordSession() give two of one millisecond two times", async () => {
  const { ledger, pass } = await opened();
  await ledger.recordSession({ session_id: "s-1", reference: "basket-1" });
  await ledger.expect({ clickId: "c-1", reference: "basket-1" });
  pass(-60_000);
  await ledger.expect({ clickId: "c-2", reference: "basket-1" });
  const events = await select(
    ledger.driver,
    "SELECT recorded_at FROM events ORDER BY position",
  );
  // A clock that was set back by a minute is believed.
  assert.deepEqual(events.map(({ recorded_at }) => timeOf(recorded_at)), [
    "2026-11-20T09:00:00.000Z",
    "2026-11-20T09:00:00.001Z",
    "2026-11-20T08:59:00.000Z",
  ]);
  await ledger.close();
});

Deno.test("Ledger.expect() refuses other terms for a purchase of which the service has shown success", async () => {
  await using ledger = await emptyLedger({ now: () => Date.parse(at(30)) });
  const terms = { reference: "basket-1", currency: "USD" };
  const paid = { orderId: "O1", status: "success", click: "C1", tx: "T" };
  await ledger.append([
    expectation("E1", 0, { click: "C1", reference: "basket-1", amount: "10" }),
    expectation("E2", 0, { click: "C2", amount: "10" }),
    orderRead(5, { ...paid, created: 2 }),
    orderRead(5, { ...paid, orderId: "O2", click: "C2", created: 2 }),
  ]);
  await ledger.project();
  const other = { ...terms, clickId: "C9", currencyAmount: "900" };
  await assert.rejects(ledger.expect(other), {
    code: "purchase_paid",
    message: 'Cannot record what is expected: reference "basket-1" was paid ' +
      "by O1; take a new one for each purchase, or state the same terms",
  });
  await assert.rejects(
    ledger.expect({ clickId: "C2", currency: "USD", currencyAmount: "900" }),
    { code: "purchase_paid", message: /click_id "C2" was paid by O2/ },
  );
  await assert.rejects(
    ledger.recordSession({
      ...{ session_id: "S9", click_id: "C8", reference: "basket-1" },
      ...{ currency: "USD", currency_amount: "900" },
    }),
    { code: "purchase_paid" },
  );
  await ledger.expect({ ...other, currencyAmount: "10.00" });
});
