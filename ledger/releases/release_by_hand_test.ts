import assert from "node:assert/strict";
import fc from "fast-check";
import {
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { checkRelease, type ReleaseByHand } from "./release_by_hand.ts";
import { assertFollows, emptyLedger } from "../testing/empty_ledger.ts";

const NOW = "2026-11-20T09:00:00.000Z";
const SUCCESS = { orderId: "O1", status: "success", click: "C1", tx: "0xT" };
const ADA = { by: "Ada", why: "paid at the counter" } as const;

/** A ledger of two orders of one basket, one of nothing, and one not read. */
async function opened(now = () => Date.parse(NOW)) {
  const ledger = await emptyLedger({ now });
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(5, { ...SUCCESS, created: 2 }),
    orderRead(6, { ...SUCCESS, orderId: "O2", created: 3 }),
    orderRead(6, { ...SUCCESS, orderId: "O3", created: 3, click: "C3" }),
    orderWebhook("W4", 7, { orderId: "O4", type: "order_complete" }),
    orderRead(8, { ...SUCCESS, orderId: "O5", status: "pending", created: 3 }),
  ]);
  return ledger;
}

Deno.test("Ledger.release() records what a person did, and refuses what speaks against it unless it is confirmed", async () => {
  await using ledger = await opened();
  const release = { outcome: "delivered", ...ADA } as const;
  assert.equal(await ledger.handRelease("O1"), null);
  const recorded = { ...release, for: "basket-1", at: NOW };
  assert.deepEqual(await ledger.release("O1", release), recorded);
  assert.deepEqual(await ledger.handRelease("O1"), recorded);
  const refunded = { ...ADA, outcome: "refunded" } as const;
  await assert.rejects(ledger.release("O1", refunded), {
    name: "ReleaseError",
    code: "needs_confirmation",
    message: "Cannot record refunded of O1 unless it is confirmed: it was " +
      `recorded as delivered at ${NOW}`,
  });
  const confirmed = { ...refunded, confirmed: true };
  assert.equal((await ledger.release("O1", confirmed)).outcome, "refunded");
  assert.equal((await ledger.stats()).events.order_released, 2);
});

Deno.test("Ledger.release() wants to be confirmed before the service shows success, or an end", async () => {
  await using ledger = await opened();
  const refuses = async (release: ReleaseByHand, message: string) => {
    await assert.rejects(ledger.release("O5", release), {
      code: "needs_confirmation",
      message:
        `Cannot record ${release.outcome} of O5 unless it is confirmed: ` +
        message,
    });
  };
  const shown = "the service shows pending, 10 USD";
  await refuses({ ...ADA, outcome: "delivered" }, `${shown}, for basket-1`);
  await refuses({ ...ADA, outcome: "refunded" }, shown);
  await refuses({ ...ADA, outcome: "written_off" }, shown);
  assert.equal((await ledger.stats()).events.order_released, 0);
});

Deno.test("Ledger.release() refuses an order that the service has not shown, or that nobody knows", async () => {
  await using ledger = await opened();
  const release = { outcome: "delivered", ...ADA, confirmed: true } as const;
  await assert.rejects(ledger.release("O9", release), {
    code: "unknown_order",
    message: "Cannot record delivered of an order that the ledger does not " +
      'have: "O9"; look it up with its order id',
  });
  await assert.rejects(ledger.release("O4", release), { code: "not_shown" });
  assert.equal((await ledger.stats()).events.order_released, 0);
});

Deno.test("Ledger.release() refuses a delivery of nothing, and one for a reference that was never recorded", async () => {
  await using ledger = await opened();
  const release = { outcome: "delivered", ...ADA } as const;
  await assert.rejects(ledger.release("O3", release), {
    code: "reference_missing",
    message: "Cannot tell what was delivered: O3 matches no expectation; " +
      "state the reference of the purchase",
  });
  const other = { ...release, for: "basket-1 " };
  await assert.rejects(ledger.release("O3", other), {
    code: "reference_unknown",
  });
  await ledger.release("O3", { ...other, newReference: true });
  assert.equal((await ledger.handRelease("O3"))?.for, "basket-1 ");
});

Deno.test("Ledger.release() takes back what stands, and nothing else", async () => {
  await using ledger = await opened();
  const takenBack = { ...ADA, outcome: "taken_back" } as const;
  await assert.rejects(ledger.release("O1", takenBack), {
    code: "nothing_stands",
  });
  const delivered = { ...ADA, outcome: "delivered" } as const;
  await ledger.release("O1", delivered);
  assert.equal((await ledger.orders.get("O1"))?.release, "settled");
  await ledger.release("O1", takenBack);
  assert.equal((await ledger.orders.get("O1"))?.release, "yes");
  await assert.rejects(ledger.release("O1", takenBack));
  await ledger.release("O1", delivered);
  assert.equal((await ledger.stats()).events.order_released, 3);
});

Deno.test("Ledger.release() says whom the yes was sent to", async () => {
  await using ledger = await opened();
  await ledger.project();
  const subscription = await ledger.subscribe(
    "shop",
    { on: "order.release.yes", from: "start", start: false },
    () => {},
  );
  await subscription.dispatch();
  for (const outcome of ["delivered", "refunded", "written_off"] as const) {
    await assert.rejects(ledger.release("O1", { ...ADA, outcome }), {
      code: "needs_confirmation",
      message: /its yes was sent to shop at 2026-11-20T/,
    });
  }
  const confirmed = { ...ADA, outcome: "refunded", confirmed: true } as const;
  await ledger.release("O1", confirmed);
});

Deno.test("Ledger.release() takes one of several that are recorded at once", async () => {
  await using ledger = await opened();
  const results = await Promise.allSettled(
    Array.from(
      { length: 8 },
      (_, n) =>
        ledger.release("O1", { outcome: "delivered", by: `${n}`, why: "paid" }),
    ),
  );
  assert.equal(
    results.filter(({ status }) => status === "fulfilled").length,
    1,
  );
  assert.equal((await ledger.stats()).events.order_released, 1);
});

Deno.test("Ledger.release() frees nothing for a refund: the second order of the basket waits for a person", async () => {
  await using ledger = await opened();
  await ledger.project();
  await ledger.release("O1", { ...ADA, outcome: "refunded" });
  const shipped: string[] = [];
  const subscription = await ledger.subscribe(
    "shop",
    { on: "order.release.yes", from: "start", start: false },
    ({ id }) => void shipped.push(id),
  );
  await subscription.dispatch();
  assert.deepEqual(shipped, []);
  const released = await Array.fromAsync(
    ledger.orders.list({ release: "yes" }),
  );
  assert.deepEqual(released, []);
  const settled = await Array.fromAsync(
    ledger.orders.list({ release: "settled" }),
  );
  assert.deepEqual(settled.map(({ orderId }) => orderId), ["O1"]);
  assert.equal((await ledger.orders.get("O2"))?.releaseReason, "paid_twice");
});

for (const outcome of ["refunded", "written_off"] as const) {
  Deno.test(`Ledger.release() leaves what was delivered with the order that it was delivered with, once that is ${outcome} as well`, async () => {
    let nowMs = Date.parse(NOW);
    await using ledger = await opened(() => nowMs += 1000);
    await ledger.project();
    const record = (outcome: ReleaseByHand["outcome"]) =>
      ledger.release("O2", { ...ADA, outcome, confirmed: true });
    const reasonOf = async (id: string) =>
      (await ledger.orders.get(id))?.releaseReason;
    await record("delivered");
    await record(outcome);
    assert.equal(await reasonOf("O1"), "paid_twice");
    assert.equal(await reasonOf("O2"), outcome);
    await ledger.refold();
    assert.equal(await reasonOf("O1"), "paid_twice");
    await record("taken_back");
    assert.equal(await reasonOf("O1"), "session_matched");
    assert.equal(await reasonOf("O2"), "paid_twice");
  });
}

Deno.test("Ledger.release() is the same in an imported ledger, which its events alone decide", async () => {
  await using ledger = await opened();
  await ledger.project();
  await ledger.release("O1", { ...ADA, outcome: "refunded" });
  const subscription = await ledger.subscribe(
    "shop",
    { on: "order.*.*", from: "start", start: false },
    () => {},
  );
  await subscription.dispatch();
  await ledger.release("O2", {
    ...{ ...ADA, outcome: "delivered", confirmed: true },
  });
  await using copy = await emptyLedger();
  await copy.import(ledger.export());
  await copy.project();
  assert.deepEqual(
    await copy.handRelease("O1"),
    await ledger.handRelease("O1"),
  );
  const said = async (one: typeof ledger) =>
    (await Array.fromAsync(one.orders.list({}))).map(
      ({ orderId, release, releaseReason }) =>
        `${orderId} ${release} ${releaseReason}`,
    );
  assert.deepEqual(await said(copy), await said(ledger));
  for (const one of [ledger, copy]) await assertFollows(one);
});

Deno.test("checkRelease() refuses fields that say nothing or too much", () => {
  const good = { outcome: "delivered", ...ADA } as const;
  const wrong: [object, RegExp][] = [
    [
      { outcome: "sent" },
      /^Wrong outcome: "sent"; use delivered or refunded or written_off or taken_back$/,
    ],
    [{ by: " " }, /^Wrong by: " "; use 1 to 256 characters$/],
    [{ why: "" }, /^Wrong why: ""; use 1 to 1000 characters$/],
    [{ why: "x".repeat(1001) }, /^Wrong why: a text of 1001 characters; use/],
    [{ for: "" }, /^Wrong for: ""; use 1 to 256 bytes in UTF-8$/],
    [{ outcome: "refunded", for: "b" }, /leave it out: nothing was delivered$/],
  ];
  for (const [field, message] of wrong) {
    assert.throws(() => checkRelease({ ...good, ...field } as ReleaseByHand), {
      code: "invalid",
      message,
    });
  }
  fc.assert(fc.property(fc.string(), (text) => {
    assert.throws(() => checkRelease({ ...good, by: `${text}\0` }));
  }));
});
