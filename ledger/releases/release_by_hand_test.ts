import assert from "node:assert/strict";
import fc from "fast-check";
import {
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { releaseBody } from "./release_by_hand.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

const NOW = "2026-11-20T09:00:00.000Z";
const SUCCESS = { orderId: "O1", status: "success", click: "C1", tx: "0xT" };
const ADA = { by: "Ada", why: "paid at the counter" } as const;

/** A ledger of two orders of one basket, one of nothing, and one not read. */
async function opened() {
  const ledger = await emptyLedger({
    now: () => Date.parse(NOW),
  });
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(5, { ...SUCCESS, created: 2 }),
    orderRead(6, { ...SUCCESS, orderId: "O2", created: 3 }),
    orderRead(6, { ...SUCCESS, orderId: "O3", created: 3, click: "C3" }),
    orderWebhook("W4", 7, { orderId: "O4", type: "order_complete" }),
  ]);
  return ledger;
}

Deno.test("Ledger.release() records what a person did, once an order", async () => {
  await using ledger = await opened();
  const release = { outcome: "delivered", ...ADA } as const;
  assert.equal(await ledger.handRelease("O1"), null);
  const recorded = { ...release, for: null, at: NOW };
  assert.deepEqual(await ledger.release("O1", release), recorded);
  assert.deepEqual(await ledger.handRelease("O1"), recorded);
  await assert.rejects(
    ledger.release("O1", { ...ADA, outcome: "refunded" }),
    {
      name: "ReleaseError",
      code: "released_before",
      message: "Cannot release an order by hand twice: O1 was recorded as " +
        `delivered at ${NOW}`,
    },
  );
  assert.equal((await ledger.stats()).events.order_released, 1);
});

Deno.test("Ledger.release() refuses an unknown order, and a delivery of an order that matches nothing", async () => {
  await using ledger = await opened();
  const release = { outcome: "delivered", ...ADA } as const;
  await assert.rejects(ledger.release("O9", release), {
    code: "unknown_order",
    message: 'Cannot release an order that the ledger does not have: "O9"',
  });
  await assert.rejects(ledger.release("O3", release), {
    code: "reference_missing",
    message: "Cannot tell what was delivered: O3 matches no expectation; " +
      "state the reference of the purchase",
  });
  await ledger.release("O3", { ...release, for: "basket-3" });
  await ledger.release("O4", release);
  assert.equal((await ledger.stats()).events.order_released, 2);
});

Deno.test("Ledger.release() hands no yes of a refunded order over, and that of the next one of its purchase", async () => {
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
  assert.deepEqual(shipped, ["O2"]);
});

Deno.test("Ledger.release() is exported and imported with its order", async () => {
  await using ledger = await opened();
  await ledger.release("O1", { ...ADA, outcome: "refunded" });
  await using copy = await emptyLedger();
  await copy.import(ledger.export());
  await copy.project();
  assert.deepEqual(await copy.handRelease("O1"), {
    ...ADA,
    outcome: "refunded",
    for: null,
    at: NOW,
  });
});

Deno.test("releaseBody() refuses fields that say nothing or too much", () => {
  const good = { outcome: "delivered", ...ADA } as const;
  const wrong: [object, RegExp][] = [
    [{ outcome: "sent" }, /^Wrong outcome: "sent"; use delivered or refunded$/],
    [{ by: " " }, /^Wrong by: " "; use 1 to 256 characters$/],
    [{ why: "" }, /^Wrong why: ""; use 1 to 1000 characters$/],
    [{ why: "x".repeat(1001) }, /^Wrong why: a text of 1001 characters; use/],
    [{ for: "" }, /^Wrong for: ""; use 1 to 256 bytes in UTF-8$/],
    [{ outcome: "refunded", for: "b" }, /leave it out: nothing was delivered$/],
  ];
  for (const [field, message] of wrong) {
    assert.throws(() => releaseBody("O1", { ...good, ...field }), {
      code: "invalid",
      message,
    });
  }
  fc.assert(fc.property(fc.string(), (text) => {
    assert.throws(() => releaseBody("O1", { ...good, by: `${text}\0` }));
  }));
});
