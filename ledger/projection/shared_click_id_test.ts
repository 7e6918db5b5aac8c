import assert from "node:assert/strict";
import fc from "fast-check";
import type { OrderState } from "../states/order_state.ts";
import type { Driver } from "../store/database.ts";
import {
  append,
  newLedger,
  projectAll,
  statesOf,
} from "../testing/fold_kit.ts";
import {
  expectedStates,
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { isThorough, tries } from "../../tests/kit/thorough.ts";

/** A driver that counts what goes through it: rows read, characters written. */
function counting(driver: Driver): Driver & { moved: number } {
  return {
    location: driver.location,
    moved: 0,
    async batch(statements, mode) {
      const results = await driver.batch(statements, mode);
      for (const { args } of statements) {
        for (const arg of args) {
          if (typeof arg === "string" || arg instanceof Uint8Array) {
            this.moved += arg.length;
          }
        }
      }
      for (const { rows } of results) {
        for (const row of rows) {
          for (const value of row) this.moved += String(value).length;
        }
      }
      return results;
    },
    close: () => driver.close(),
  };
}

Deno.test("project() folds a session without the orders that merely share its click id", async () => {
  const moved: number[] = [];
  for (const orders of [100, isThorough ? 10_000 : 2000]) {
    const driver = counting(await newLedger());
    await append(
      driver,
      Array.from({ length: orders }, (_, n) =>
        orderRead(n / 100, {
          orderId: `O${n}`,
          status: "success",
          click: "C",
          created: n / 100,
        })),
    );
    await projectAll(driver);
    let most = 0;
    for (let n = 0; n < 20; n++) {
      await append(driver, [
        session(200 + n, `S${n}`, "C"),
        orderWebhook(`W${n}`, 200 + n, {
          type: "login",
          orderId: `N${n}`,
          click: "C",
        }),
      ]);
      driver.moved = 0;
      await projectAll(driver);
      most = Math.max(most, driver.moved);
    }
    moved.push(most);
    await driver.close();
  }
  const [few = 0, many = 0] = moved;
  assert.ok(many < 1.1 * few, `${few} with 100 orders, ${many} with many`);
});

Deno.test("project() folds an order without all the sessions that share its click id", async () => {
  const moved: number[] = [];
  for (const sessions of [100, isThorough ? 5000 : 1000]) {
    const driver = counting(await newLedger());
    await append(
      driver,
      Array.from(
        { length: sessions },
        (_, n) => session(n / 100, `S${n}`, "C"),
      ),
    );
    await projectAll(driver);
    await append(driver, [
      orderRead(90, {
        orderId: "O1",
        status: "created",
        click: "C",
        created: 80,
      }),
    ]);
    driver.moved = 0;
    await projectAll(driver);
    moved.push(driver.moved);
    const state: OrderState = JSON.parse(
      (await statesOf(driver))["order:O1"]?.state ?? "null",
    );
    assert.equal(state.expected, null, "it does not tell");
    await driver.close();
  }
  const [few = 0, many = 0] = moved;
  assert.ok(many < 1.1 * few, `${few} with 100 sessions, ${many} with many`);
});

Deno.test("project() gives the same states for any order and any batches of many sessions of few click ids", async () => {
  const minute = fc.integer({ min: 0, max: 60 });
  const click = fc.constantFrom("C0", "C0", "C0", "C1");
  const orderId = fc.constantFrom("O0", "O1", "O2");
  const sessionId = fc.integer({ min: 0, max: 30 }).map((n) => `S${n}`);
  const made = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(minute, sessionId, click).map((
        [minute, id, click],
      ) =>
      () => session(minute, id, click, `${minute}`)),
    },
    fc.record({ minute, orderId, click, created: minute }).map((one) => () =>
      orderRead(one.minute, { ...one, status: "pending" })
    ),
    fc.record({
      minute,
      orderId,
      click: fc.option(click, { freq: 1 }),
      session: fc.option(sessionId),
    }).map((
      one,
    ) =>
    (id: string) =>
      orderWebhook(id, one.minute, { ...one, type: "payment_started" })
    ),
  );
  const events = fc.array(made, { minLength: 30, maxLength: 70, size: "max" })
    .map((makers) => {
      const all = makers.map((make, at) => make(`W${at}`));
      return [...new Map(all.map((one) => [one.eventId, one])).values()];
    });
  await fc.assert(
    fc.asyncProperty(
      events,
      fc.infiniteStream(fc.nat()),
      async (events, choices) => {
        const choose = (below: number) =>
          (choices.next().value as number) % below;
        const order = events.toSorted(() => choose(3) - 1);
        await using driver = await newLedger();
        const maxEvents = 1 + choose(20);
        for (let from = 0; from < order.length;) {
          const to = from + 1 + choose(20);
          await append(driver, order.slice(from, to));
          from = to;
          if (choose(2) === 0) await projectAll(driver, { maxEvents });
        }
        await projectAll(driver, { maxEvents });
        assert.deepEqual(await statesOf(driver), expectedStates(events));
      },
    ),
    { numRuns: tries(80) },
  );
});
