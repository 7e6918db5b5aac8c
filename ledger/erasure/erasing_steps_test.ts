import assert from "node:assert/strict";
import fc from "fast-check";
import { verifyStates } from "../evidence/verify_states.ts";
import { ledgerOn } from "../ledger_on.ts";
import type { Ledger } from "../ledger.ts";
import type { OrderView } from "../queries/orders.ts";
import { openDriver } from "../store/driver/open_driver.ts";
import {
  at,
  orderRead,
  orderWebhook,
  rowsOf,
  worlds,
} from "../testing/projection_test_kit.ts";

async function memoryLedger(): Promise<Ledger> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  return await ledgerOn(driver, {
    environment: "sandbox",
    now: () => Date.parse(at(60)),
  });
}

/** What no erasure and no pruning changes of an order. */
function kept(order: OrderView) {
  const { activity, claimed, confirmed } = order;
  const amounts = (facts: typeof claimed) =>
    facts && [
      facts.status,
      facts.currency,
      facts.currencyAmount,
      facts.commodity,
      facts.cryptoAmount,
    ];
  return {
    orderId: order.orderId,
    status: order.status,
    trust: order.trust,
    reason: order.reason,
    release: order.release,
    createdAt: order.createdAt,
    changedAt: order.changedAt,
    currency: order.currency,
    currencyAmount: order.currencyAmount,
    commodity: order.commodity,
    network: order.network,
    cryptoAmount: order.cryptoAmount,
    fees: order.fees,
    history: order.history,
    transferSeen: order.transferSeen,
    claimed: amounts(claimed),
    confirmed: amounts(confirmed),
    activity,
  };
}

async function ordersOf(ledger: Ledger) {
  return (await Array.fromAsync(ledger.orders.list({})))
    .map(kept).sort((a, b) => a.orderId < b.orderId ? -1 : 1);
}

async function assertFollows(ledger: Ledger): Promise<void> {
  const scratch = await openDriver({ url: ":memory:", worker: false });
  try {
    const { differences } = await verifyStates(ledger.driver, {
      scratch,
      assets: "sandbox",
    });
    assert.deepEqual(differences, []);
  } finally {
    await scratch.close();
  }
}

/** Positions of the events that name a user, in a column or in the body. */
async function eventsNaming(ledger: Ledger, userId: string) {
  const rows = await rowsOf(
    ledger.driver,
    `SELECT position FROM events
      WHERE user_id = ? OR instr(body, CAST(? AS BLOB)) > 0`,
    userId,
    JSON.stringify(userId),
  );
  return rows.map(([position]) => position);
}

Deno.test("erase() of two users of one order, one after the other, keeps every reading and names neither", async () => {
  await using ledger = await memoryLedger();
  const order = { orderId: "O0", status: "pending" };
  await ledger.append([
    orderRead(1, { ...order, user: "U0", click: "C0" }),
    orderRead(2, { ...order, user: "U2", status: "success" }),
    orderRead(3, { ...order, user: "U0", status: "failed" }),
  ]);
  await ledger.project();
  const before = await ordersOf(ledger);
  for (const userId of ["U0", "U2"]) {
    await ledger.erasures.erase(userId, { force: true });
    await ledger.project();
    assert.deepEqual(await eventsNaming(ledger, userId), []);
    assert.deepEqual(await ordersOf(ledger), before);
    assert.equal((await ledger.verify()).ok, true);
    assert.deepEqual((await ledger.erasures.plan(userId)).events, {});
  }
});

Deno.test("erase() after prune() counts no event of an order twice", async () => {
  await using ledger = await memoryLedger();
  const order = { orderId: "O0", status: "success", user: "U1" };
  await ledger.append([
    orderWebhook("W0", 1, { ...order, type: "order_complete" }),
    orderRead(2, order),
  ]);
  await ledger.project();
  const before = await ordersOf(ledger);
  await ledger.erasures.prune(at(100));
  assert.deepEqual(await ordersOf(ledger), before);
  const { fields } = await ledger.erasures.erase("U1");
  assert.deepEqual(fields, ["user_id"], "the rest went, or stays");
  assert.deepEqual(await eventsNaming(ledger, "U1"), []);
  assert.deepEqual(await ordersOf(ledger), before);
  assert.equal((await ledger.refold()).changed, 0);
});

type Step =
  | { readonly erase: string }
  | { readonly pruneBefore: string }
  | { readonly append: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ erase: fc.constantFrom("U0", "U1", "U2") }),
  fc.record({ pruneBefore: fc.integer({ min: 0, max: 100 }).map(at) }),
  fc.record({ append: fc.integer({ min: 1, max: 15 }) }),
);

Deno.test("erase() and prune() keep every order as it is in a ledger that forgets nothing, in any steps, whatever arrives between", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(30),
      fc.array(step, { maxLength: 6 }),
      async (events, steps) => {
        await using ledger = await memoryLedger();
        await using whole = await memoryLedger();
        let appended = 0;
        const append = async (count: number) => {
          const some = events.slice(appended, appended + count);
          appended += some.length;
          for (const one of [ledger, whole]) {
            await one.append(some);
            await one.project();
          }
        };
        for (const one of [{ append: 15 }, ...steps, { append: 30 }]) {
          if ("append" in one) await append(one.append);
          else if ("erase" in one) {
            await ledger.erasures.erase(one.erase, { force: true });
            assert.deepEqual(await eventsNaming(ledger, one.erase), []);
          } else await ledger.erasures.prune(one.pruneBefore);
          assert.deepEqual(await ordersOf(ledger), await ordersOf(whole));
        }
        await assertFollows(ledger);
        assert.equal((await ledger.refold()).changed, 0);
        const { ok, reason } = await ledger.verify();
        assert.equal(ok, true, reason?.code ?? "");
      },
    ),
    { numRuns: 40 },
  );
});
