import assert from "node:assert/strict";
import fc from "fast-check";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { tries } from "../../tests/kit/thorough.ts";
import type { NewEvent } from "../events/event.ts";
import { orderReleased } from "../testing/mint.ts";
import { type Driver, LedgerError } from "../store/database.ts";
import { readTransitions } from "../reads/releases.ts";
import {
  at,
  expectation,
  expectedStates,
  orderRead,
  orderWebhook,
  session,
  webhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import { verifySeals } from "../evidence/evidence.ts";
import {
  append,
  newLedger,
  projectAll,
  select,
  statesOf,
  toldBy,
} from "../testing/fold_kit.ts";
import { packOrder, packUser, unpackOrder, unpackUser } from "./rows.ts";
import { guardOf, moveGuard, selectGuard } from "./guard.ts";
import { project } from "./project.ts";

Deno.test("project() leads to the states that the events define, in any order and any batches", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(),
      fc.infiniteStream(fc.nat()),
      async (events, choices) => {
        const choose = (below: number) =>
          (choices.next().value as number) % below;
        const order = events.toSorted(() => choose(3) - 1);
        await using driver = await newLedger();
        for (let from = 0; from < order.length;) {
          const to = from + 1 + choose(7);
          await append(driver, order.slice(from, to));
          from = to;
          if (choose(3) > 0) {
            const maxEvents = 1 + choose(9);
            await project(driver, { assets: "sandbox", maxEvents });
          }
        }
        await projectAll(driver);
        assert.deepEqual(await statesOf(driver), expectedStates(events));
        const { broken, events: sealed } = await verifySeals(driver);
        assert.deepEqual([broken, sealed], [null, events.length]);
      },
    ),
    { numRuns: tries(40), seed: 4107 },
  );
});

Deno.test("project() tells the same whatever the batches", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(),
      fc.integer({ min: 1, max: 8 }),
      async (events, size) => {
        await using whole = await newLedger();
        await using parts = await newLedger();
        await append(whole, events);
        await projectAll(whole);
        for (let from = 0; from < events.length; from += size) {
          await append(parts, events.slice(from, from + size));
          await projectAll(parts);
        }
        assert.deepEqual(await toldBy(parts), await toldBy(whole));
        const purchases =
          "SELECT hex(name), no, held FROM purchases ORDER BY 1";
        assert.deepEqual(
          await select(parts, purchases),
          await select(whole, purchases),
        );
      },
    ),
    { numRuns: tries(40), seed: 4108 },
  );
});

Deno.test("a document holds everything of a fold", async () => {
  await fc.assert(
    fc.asyncProperty(worlds(), async (events) => {
      await using driver = await newLedger();
      await append(driver, events);
      await projectAll(driver);
      for (const { id, fold } of await select(driver, "SELECT * FROM orders")) {
        const order = unpackOrder(String(id), String(fold));
        assert.equal(packOrder(order), fold);
        assert.deepEqual(unpackOrder(String(id), packOrder(order)), order);
      }
      for (const { id, fold } of await select(driver, "SELECT * FROM users")) {
        const user = unpackUser(String(id), String(fold));
        assert.deepEqual(unpackUser(String(id), packUser(user)), user);
      }
    }),
    { numRuns: tries(20), seed: 4110 },
  );
});

Deno.test("two processes that fold one file fold each event once", async () => {
  await using folder = await temporaryFolder();
  const url = `file:${folder.path}/ledger.db`;
  await using first = await newLedger(url);
  await using second = await newLedger(url);
  const events = manyEvents(4111);
  const folded = [0, 0];
  for (let from = 0; from < events.length; from += 10) {
    await append(first, events.slice(from, from + 10));
    const both = await Promise.all([
      projectAll(first, { maxEvents: 2 }),
      projectAll(second, { maxEvents: 3 }),
    ]);
    both.forEach((count, which) =>
      folded[which] = (folded[which] ?? 0) + count
    );
  }
  assert.equal((folded[0] ?? 0) + (folded[1] ?? 0), events.length);
  assert.deepEqual(await statesOf(first), expectedStates(events));
  assert.equal((await verifySeals(second)).broken, null);
});

Deno.test("a write that fails leaves nothing of its step, and the next one makes it whole", async () => {
  const events = manyEvents(4112);
  for (let nth = 1; nth <= 6; nth++) {
    await using driver = await newLedger();
    await append(driver, events);
    let writes = 0;
    const failing: Driver = {
      location: "memory",
      close: () => Promise.resolve(),
      async batch(statements, mode) {
        if (mode === "write" && ++writes === nth) {
          // The last statement of the batch fails, so all before it are undone.
          const wrong = { sql: "INSERT INTO nowhere VALUES (1)", args: [] };
          return await driver.batch([...statements, wrong], mode);
        }
        return await driver.batch(statements, mode);
      },
    };
    await assert.rejects(projectAll(failing, { maxEvents: 4 }), LedgerError);
    await projectAll(failing, { maxEvents: 4 });
    assert.deepEqual(await statesOf(driver), expectedStates(events));
    assert.equal((await verifySeals(driver)).broken, null);
  }
});

Deno.test("no batch of another environment folds a ledger", async () => {
  await using driver = await newLedger();
  const [found] = await driver.batch([selectGuard], "read");
  const other = { ...guardOf(found?.rows), environment: "production" };
  await assert.rejects(driver.batch([moveGuard(other)], "write"), LedgerError);
  await driver.batch([moveGuard(guardOf(found?.rows))], "write");
});

Deno.test("no write lets two orders hold one purchase", async () => {
  await using driver = await newLedger();
  await append(driver, [
    expectation("X1", 0, {
      ...{ click: "C0", reference: "basket-1", amount: "10" },
    }),
    orderRead(5, {
      ...{ orderId: "O1", status: "success", click: "C0", created: 2 },
      tx: "T1",
    }),
  ]);
  await projectAll(driver);
  const [held] = await select(driver, "SELECT * FROM purchases");
  assert.equal(held?.held, 1);
  await assert.rejects(
    driver.batch([{
      sql: `INSERT INTO purchases (name, no, held, since)
        SELECT name, no + 2, 1, since FROM purchases`,
      args: [],
    }], "write"),
    { code: "constraint" },
  );
});

Deno.test("a person who names another purchase moves the delivery there, folded alone", async () => {
  await using driver = await newLedger();
  const delivered = (minute: number, turn: number, reference: string) =>
    orderReleased({
      released: {
        ...{ order_id: "O1", outcome: "delivered", by: "Ada", why: "counter" },
        ...{ turn, for: reference, confirmed: true },
      },
      recordedAt: at(minute),
      salt: new Uint8Array(16),
    });
  const paid = (orderId: string, click: string) =>
    orderRead(9, {
      ...{ orderId, status: "success", click, created: 2, tx: orderId },
    });
  const steps = [
    ...["1", "2"].map((one) =>
      expectation(`X${one}`, 0, {
        ...{ click: `C${one}`, reference: `basket-${one}`, amount: "10" },
      })
    ),
    orderRead(3, { orderId: "O1", status: "pending", click: "C0", created: 2 }),
    delivered(4, 1, "basket-1"),
    delivered(5, 2, "basket-2"),
    paid("O2", "C1"),
    paid("O3", "C2"),
  ];
  for (const event of steps) {
    await append(driver, [event]);
    await projectAll(driver);
  }
  const rows = await select(
    driver,
    "SELECT id, release, reason FROM orders WHERE id <> 'O1' ORDER BY id",
  );
  assert.deepEqual(rows, [
    { id: "O2", release: "yes", reason: "session_matched" },
    { id: "O3", release: "wait", reason: "paid_twice" },
  ]);
});

Deno.test("project() joins an order with what was last said of its session", async () => {
  const said = [1, 3, 2].map((minute) =>
    session(minute, "S1", "C1", `1${minute}`)
  );
  const order = { orderId: "O1", status: "pending", click: "C1", created: 4 };
  await using driver = await newLedger();
  await append(driver, said);
  await projectAll(driver);
  await append(driver, [orderRead(4, order)]);
  await projectAll(driver);
  const state = JSON.parse((await statesOf(driver))["order:O1"]?.state ?? "");
  assert.equal(state.expected.currencyAmount, "13");
});

Deno.test("project() logs each first status of an event, not of a batch, and each once", async () => {
  const events = [
    orderWebhook("W1", 1, { type: "payment_started", orderId: "O1" }),
    orderWebhook("W2", 2, { type: "order_complete", orderId: "O1" }),
    orderWebhook("W3", 3, { type: "order_complete", orderId: "O1" }),
    orderRead(4, { orderId: "O1", status: "pending", changed: 3 }),
    orderRead(5, { orderId: "O1", status: "success", changed: 5 }),
    orderRead(6, { orderId: "O1", status: "pending", changed: 6 }),
    orderRead(7, { orderId: "O1", status: "success", changed: 7 }),
  ];
  for (const maxEvents of [1, 2, 3, 7]) {
    await using driver = await newLedger();
    await append(driver, events);
    await projectAll(driver, { maxEvents });
    const log = await readTransitions(driver);
    assert.deepEqual(
      log.filter(({ machine }) => machine === "order")
        .map(({ key, position, live }) => [key, position, live]),
      [
        ["order:O1:claimed.progress", 1, true],
        ["order:O1:claimed.success", 2, true],
        ["order:O1:confirmed.success", 5, true],
        ["order:O1:confirmed.pending", 6, true],
      ],
    );
  }
});

Deno.test("project() asks for a confirmation of what webhooks named, at the last time they did", async () => {
  await using driver = await newLedger();
  await append(driver, [
    orderWebhook("W1", 5, {
      ...{ type: "payment_started", orderId: "O1", user: "U1" },
    }),
    orderWebhook("W2", 3, { type: "payment_started", orderId: "O1" }),
    orderRead(9, { orderId: "O2", status: "created" }),
    webhook("W3", 7, { type: "made_up", order: { id: "O3" } }),
    webhook("W4", 8, {
      ...{ type: "test", order: { id: "" }, click_id: "test_click_id" },
    }),
  ]);
  await projectAll(driver, { maxEvents: 1 });
  const named = await select(
    driver,
    `SELECT id, wanted_at FROM orders WHERE named_at IS NOT NULL
      UNION ALL SELECT id, wanted_at FROM users WHERE named_at IS NOT NULL
      ORDER BY id`,
  );
  assert.deepEqual(
    named.map(({ id, wanted_at }) => [id, new Date(Number(wanted_at))]),
    [["O1", 5], ["O3", 7], ["U1", 5]].map(([id, minute]) => [
      id,
      new Date(at(Number(minute))),
    ]),
  );
});

Deno.test("project() throws what the database refuses, instead of trying for ever", async () => {
  await using driver = await newLedger();
  await append(driver, [orderRead(1, { orderId: "O1", status: "created" })]);
  await driver.batch([{
    sql: `CREATE TRIGGER refuse BEFORE INSERT ON orders
      BEGIN SELECT RAISE(ABORT, 'constraint of a test'); END`,
    args: [],
  }], "write");
  await assert.rejects(projectAll(driver), { code: "constraint" });
  const [ledger] = await select(driver, "SELECT position FROM ledger");
  assert.equal(ledger?.position, 0);
});

Deno.test("project() bounds the bytes of a step, and takes one event however large", async () => {
  await using driver = await newLedger();
  const login = (id: string, filler = "") =>
    webhook(id, 1, { type: "login", filler });
  await append(driver, [
    ...[login("W1"), login("W2", "x".repeat(5000))],
    ...[login("W3"), login("W4")],
  ]);
  const sizes = [];
  for (;;) {
    const options = { assets: "sandbox", maxBytes: 100 } as const;
    const { events } = await project(driver, options);
    if (events === 0) break;
    sizes.push(events);
  }
  assert.deepEqual(sizes, [1, 1, 2]);
});

/** The events of many worlds, each once. */
function manyEvents(seed: number): readonly NewEvent[] {
  const all = fc.sample(worlds(200), { numRuns: 20, seed }).flat();
  return [...new Map(all.map((one) => [one.eventId, one])).values()];
}
