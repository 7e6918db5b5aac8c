import assert from "node:assert/strict";
import { assertFollows, emptyLedger } from "../testing/empty_ledger.ts";
import { orderExpected } from "../testing/mint.ts";
import { at, orderRead, session } from "../testing/projection_test_kit.ts";
import type { Ledger } from "../ledger.ts";

/** What is decided of each order, and how it is listed. */
async function decided(ledger: Ledger): Promise<Record<string, string>> {
  await ledger.project();
  const lines: Record<string, string> = {};
  for await (const order of ledger.orders.list()) {
    const { orderId, outcome, release, releaseReason, attention } = order;
    lines[orderId] = `${outcome} ${release} ${releaseReason} ${attention}`;
  }
  return lines;
}

for (const taken of ["erase", "prune"] as const) {
  Deno.test(`Erasures.${taken}() leaves of each order its outcome, the reason of its release and what a person has to do`, async () => {
    await using ledger = await emptyLedger();
    const paid = { status: "success", created: 2, tx: "0xT", user: "U1" };
    await ledger.append([
      session(0, "S1", "C1", "10", "basket-1"),
      session(0, "S2", "C2", "900", "basket-2"),
      session(0, "S3", "C3", "10", "basket-3"),
      session(0, "S4", "C3", "10", "basket-4"),
      orderRead(5, { ...paid, orderId: "MATCHED", click: "C1" }),
      orderRead(5, { ...paid, orderId: "CHEAP", click: "C2" }),
      orderRead(5, { ...paid, orderId: "SEVERAL", click: "C3" }),
      orderRead(5, { ...paid, orderId: "BARE" }),
      orderRead(5, { ...paid, orderId: "EMPTY", click: "C3", tx: "" }),
      orderRead(5, { ...paid, orderId: "SENT", status: "failed" }),
      orderRead(5, { ...paid, orderId: "BACK" }),
      orderRead(6, { ...paid, orderId: "BACK", status: "failed", changed: 6 }),
    ]);
    const before = await decided(ledger);
    assert.match(before.SENT ?? "", /^sent_without_success no ended /);
    assert.match(
      before.BACK ?? "",
      /reversed_after_success,sent_without_success$/,
    );
    if (taken === "erase") await ledger.erasures.erase("U1", { force: true });
    else await ledger.erasures.prune("2030-01-01T00:00:00.000Z");
    assert.deepEqual(await decided(ledger), before);
    const sent = await ledger.orders.get("SENT");
    assert.equal(sent?.facts.tx, "named");
    assert.equal(sent?.txId, null, "the transaction itself is gone");
    // The service shows it again: that is redacted on arrival.
    await ledger.append([
      orderRead(9, { ...paid, orderId: "SENT", status: "failed" }),
    ]);
    assert.deepEqual(await decided(ledger), before);
    assert.equal((await ledger.refold()).changed, 0);
    await assertFollows(ledger);
  });
}

Deno.test("an order that an erased person placed before, and that becomes known later, is never released by itself", async () => {
  await using ledger = await emptyLedger();
  const paid = { status: "success", created: 2, tx: "0xT", user: "U1" };
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S2", "C2", "10", "basket-2"),
    orderRead(5, { ...paid, orderId: "FIRST", click: "C1" }),
  ]);
  await ledger.project();
  await ledger.erasures.erase("U1", { force: true });
  await ledger.append([
    orderRead(9, { ...paid, orderId: "LATE", click: "C2" }),
  ]);
  assert.deepEqual(await decided(ledger), {
    FIRST: "session_matched yes session_matched ",
    // What was asked for is erased with it: a person compares.
    LATE: "nothing_recorded unchecked nothing_recorded not_comparable",
  });
  const waiting = await Array.fromAsync(ledger.attention("not_comparable"));
  assert.deepEqual(waiting.map(({ order }) => order.orderId), ["LATE"]);
  await assertFollows(ledger);
});

Deno.test("Erasures.erase() releases no order of somebody else that differs from what was asked of the person", async () => {
  await using ledger = await emptyLedger();
  const asked = (minute: number, terms: object) =>
    orderExpected({
      expected: {
        ...{ expectation_id: `E${minute}`, click_id: `C${minute}` },
        ...{ reference: "basket-1", currency: "USD", ...terms },
      },
      recordedAt: at(minute),
      salt: new Uint8Array(16),
    });
  await ledger.append([
    asked(0, { currency_amount: "10" }),
    asked(1, { currency_amount: "900", user_id: "U1" }),
    orderRead(5, {
      ...{ orderId: "OTHER", status: "success", created: 2, tx: "0xT" },
      ...{ user: "U2", click: "C0" },
    }),
  ]);
  const before = await decided(ledger);
  assert.match(before.OTHER ?? "", / wait not_as_requested /);
  await ledger.erasures.erase("U1", { force: true });
  assert.deepEqual(await decided(ledger), before);
  assert.deepEqual(await ledger.erasures.findings(), []);
  const lines = (await Array.fromAsync(ledger.export())).map((line) =>
    atob(JSON.parse(line).body ?? "")
  ).join();
  assert.ok(!lines.includes('"U1"') && !lines.includes('"C1"'));
  await assertFollows(ledger);
});
