import assert from "node:assert/strict";
import { statement } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import fc from "fast-check";
import type { Ledger } from "../ledger.ts";
import type { OrderView } from "../reads/orders.ts";
import { assertFollows, emptyLedger } from "../testing/empty_ledger.ts";
import {
  at,
  orderRead,
  orderWebhook,
  rowsOf,
  session,
  webhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import { tries } from "../../tests/kit/thorough.ts";

function ledgerAt(time = at(60)): Promise<Ledger> {
  return emptyLedger({ now: () => Date.parse(time) });
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
    booked: order.booked,
    match: order.facts.match,
    cryptoType: order.cryptoType,
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

/** Positions of the events that have a name in a column or in the body. */
async function eventsNaming(ledger: Ledger, name: string) {
  const [found] = await ledger.driver.batch([
    statement(`SELECT ${EVENT_COLUMNS} FROM events AS e ORDER BY e.position`),
  ], "read");
  return eventsOf(found?.rows).filter(({ userId, clickId, body }) =>
    userId === name || clickId === name ||
    new TextDecoder().decode(body).includes(JSON.stringify(name))
  ).map(({ position }) => position);
}

Deno.test("erase() of two users of one order, one after the other, keeps every reading and names neither", async () => {
  await using ledger = await ledgerAt();
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

Deno.test("erase() leaves sessions alone that share a click id with the person", async () => {
  await using ledger = await ledgerAt();
  const order = { status: "success", click: "shop" };
  await ledger.append([
    orderRead(1, { ...order, orderId: "O0", user: "U0" }),
    orderRead(2, { ...order, orderId: "O1", user: "U1" }),
  ]);
  await ledger.project();
  await ledger.erasures.erase("U0");
  await ledger.append([session(70, "S0", "shop")]);
  await ledger.project();
  assert.deepEqual(
    await rowsOf(
      ledger.driver,
      `SELECT CAST(body AS TEXT) ->> 'click_id' FROM events
        WHERE kind = 'session_created'`,
    ),
    [["shop"]],
  );
});

Deno.test("erase() keeps the session that an order of another user may come from", async () => {
  await using ledger = await ledgerAt();
  const shared = { orderId: "O1", status: "success", user: "U0", click: "C0" };
  const claimed = { orderId: "O0", user: "U1", click: "C0", session: "S1" };
  await ledger.append([
    session(0, "S0", "C0", "12"),
    session(0, "S1", "C0", "10"),
    orderRead(0, shared),
    orderWebhook("W0", 0, { ...claimed, type: "payment_started" }),
  ]);
  await ledger.project();
  const before = await ordersOf(ledger);
  await ledger.erasures.erase("U1", { force: true });
  assert.deepEqual(await eventsNaming(ledger, "U1"), []);
  assert.deepEqual(await ordersOf(ledger), before);
});

/** A person's own webhook and forged ones, which name somebody else's click id. */
function forgedFor(user: string, orderId: string, click: string) {
  const type = "order_complete";
  return [
    orderWebhook("F0", 2, { type, orderId, user, click }),
    webhook("F1", 2, {
      type: "login",
      user: { user_id: user },
      click_id: click,
    }),
    orderWebhook("F2", 2, { type, orderId: "O7", user, click, session: "S5" }),
  ];
}

/** What is there of the basket "basket-5", which is nobody's yet. */
async function basketOf(ledger: Ledger) {
  await ledger.append([
    webhook("W5", 40, { type: "new_thing", click_id: "basket-5", is: "whole" }),
    orderRead(41, {
      orderId: "O5",
      status: "success",
      user: "U5",
      click: "basket-5",
    }),
  ]);
  await ledger.project();
  const [event] = await rowsOf(
    ledger.driver,
    "SELECT CAST(body AS TEXT) FROM events WHERE id = 'W5'",
  );
  const names = await eventsNaming(ledger, "basket-5");
  const order = await ledger.orders.get("O5");
  return {
    webhook: event,
    isSessionThere: names.length > 2,
    match: order?.facts.match,
    release: order?.release,
  };
}

Deno.test("erase() takes no click id for the person's that only webhooks name, whatever they name beside it", async () => {
  const all = forgedFor("U0", "O0", "basket-5");
  const session5 = orderWebhook("F3", 2, {
    type: "order_complete",
    orderId: "O0",
    session: "S5",
  });
  for (const forged of [...all.map((one) => [one]), [session5], all]) {
    const begin = async () => {
      const ledger = await ledgerAt();
      await ledger.append([
        session(0, "S5", "basket-5"),
        orderRead(1, { orderId: "O0", status: "success", user: "U0" }),
        ...forged,
      ]);
      await ledger.project();
      return ledger;
    };
    await using untouched = await begin();
    await using ledger = await begin();
    await ledger.erasures.erase("U0", { force: true });
    assert.deepEqual(await eventsNaming(ledger, "U0"), []);
    const whole = await basketOf(untouched);
    assert.equal(whole.isSessionThere, true);
    assert.deepEqual(await basketOf(ledger), whole, forged[0]?.eventId ?? "");
  }
});

Deno.test("an order of an erased user that becomes known later takes no click id with it that only webhooks name", async () => {
  const begin = async () => {
    const ledger = await ledgerAt();
    await ledger.append([
      orderRead(0, { orderId: "O0", status: "success", user: "U0" }),
      session(0, "S5", "basket-5"),
    ]);
    await ledger.project();
    return ledger;
  };
  const later = async (ledger: Ledger) => {
    await ledger.append([
      ...forgedFor("U0", "O9", "basket-5"),
      orderRead(3, { orderId: "O9", status: "success", user: "U0" }),
    ]);
    await ledger.project();
  };
  await using untouched = await begin();
  await later(untouched);
  await using ledger = await begin();
  await ledger.erasures.erase("U0");
  await later(ledger);
  const whole = await basketOf(untouched);
  assert.equal(whole.isSessionThere, true);
  assert.deepEqual(await basketOf(ledger), whole);
});

Deno.test("an order of an erased user that becomes known later takes its session and its webhooks with it", async () => {
  await using ledger = await ledgerAt();
  const order = { orderId: "O9", click: "basket-9" };
  await ledger.append([orderRead(1, {
    orderId: "O0",
    status: "success",
    user: "U0",
  })]);
  await ledger.project();
  const started = { ...order, type: "payment_started" };
  await ledger.append([
    session(2, "S9", "basket-9"),
    orderWebhook("W0", 2, started),
  ]);
  await ledger.project();
  await ledger.erasures.erase("U0");
  await ledger.append([
    orderWebhook("W1", 3, { ...order, type: "order_complete" }),
    orderRead(4, { ...order, status: "success", user: "U0" }),
    webhook("W2", 5, { type: "new_thing", click_id: "basket-9" }),
  ]);
  await ledger.project();
  await ledger.append([session(6, "S8", "basket-9")]);
  await ledger.project();
  assert.deepEqual(await eventsNaming(ledger, "U0"), []);
  assert.deepEqual(await eventsNaming(ledger, "basket-9"), []);
  assert.deepEqual(
    await rowsOf(
      ledger.driver,
      "SELECT 1 FROM expected WHERE click IS NOT NULL",
    ),
    [],
  );
  assert.equal((await ledger.orders.get("O9"))?.status, "success");
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
});

Deno.test("erase() after prune() counts no event of an order twice", async () => {
  await using ledger = await ledgerAt();
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
  assert.deepEqual(
    fields,
    ["user.user_id", "user_id"],
    "the rest went, or stays",
  );
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
        await using ledger = await ledgerAt();
        await using whole = await ledgerAt();
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
            const { orders, pseudonym } = await ledger.erasures.erase(
              one.erase,
              { force: true },
            );
            assert.deepEqual(await eventsNaming(ledger, one.erase), []);
            assert.equal(await ledger.users.get(one.erase), null);
            for (const { orderId } of orders) {
              const order = await ledger.orders.get(orderId);
              assert.ok([pseudonym, null].includes(order?.userId ?? null));
            }
          } else await ledger.erasures.prune(one.pruneBefore);
          assert.deepEqual(await ordersOf(ledger), await ordersOf(whole));
        }
        await assertFollows(ledger);
        assert.equal((await ledger.refold()).changed, 0);
        const { ok, reason } = await ledger.verify();
        assert.equal(ok, true, reason?.code ?? "");
      },
    ),
    { numRuns: tries(60) },
  );
});

Deno.test("import() of what another ledger pruned or erased brings no erased user back", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(30),
      fc.array(step, { maxLength: 4 }),
      fc.integer({ min: 0, max: 30 }),
      async (events, steps, known) => {
        await using from = await ledgerAt();
        await from.append(events);
        await from.project();
        for (const one of steps) {
          if ("pruneBefore" in one) await from.erasures.prune(one.pruneBefore);
          else if ("erase" in one && one.erase !== "U1") {
            await from.erasures.erase(one.erase, { force: true });
          }
        }
        // So late that nothing counts as new business.
        await using to = await ledgerAt("2030-01-01T00:00:00.000Z");
        await to.append(events.slice(0, known));
        await to.project();
        await to.erasures.erase("U1", { force: true });
        if (await to.erasures.find("U1") === null) return;
        await to.import(from.export());
        await to.project();
        assert.deepEqual(await eventsNaming(to, "U1"), []);
        await assertFollows(to);
        assert.equal((await to.refold()).changed, 0);
        const { ok, reason } = await to.verify();
        assert.equal(ok, true, reason?.code ?? "");
      },
    ),
    { numRuns: tries(60) },
  );
});
