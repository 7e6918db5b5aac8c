import assert from "node:assert/strict";
import { readOrderState } from "./codec/stored_state.ts";
import { orderFoldSql, orderStateSql } from "../store/tables/orders.ts";
import { entityIdSql } from "../store/tables/polling/request_places.ts";
import fc from "fast-check";
import type { NewEvent } from "../events/event.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { openDriver } from "../store/connections/open_driver.ts";
import {
  at,
  Crash,
  crashingDriver,
  emptyStore,
  expectedStates,
  foldVersion,
  liveStates,
  orderRead,
  orderWebhook,
  prepared,
  rowsOf,
  session,
  webhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import { decodeOrderFold } from "./codec/fold_codec.ts";
import { FOLD_VERSION } from "./fold_version.ts";
import { Projector } from "./projector.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { tries } from "../../tests/kit/thorough.ts";
import { until } from "../../tests/kit/until.ts";

async function append(driver: Driver, events: readonly NewEvent[]) {
  if (events.length > 0) await driver.batch([appendStatement(events)], "write");
}

async function projectAll(projector: Projector): Promise<number> {
  let events = 0;
  for (;;) {
    const step = await projector.step("live");
    if (step.events === 0) return events;
    events += step.events;
  }
}

Deno.test("Projector.step() gives the same states for any order, any batches and several projectors", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(),
      fc.infiniteStream(fc.nat()),
      async (events, choices) => {
        const choose = (below: number) =>
          (choices.next().value as number) % below;
        const order = events.toSorted(() => choose(3) - 1);
        const driver = await emptyStore();
        try {
          const projectors = [1, 2, 3].map(() =>
            new Projector({
              driver,
              assets: "sandbox",
              maxEvents: 1 + choose(9),
            })
          );
          for (let from = 0; from < order.length;) {
            const to = from + 1 + choose(7);
            await append(driver, order.slice(from, to));
            from = to;
            const steps = choose(3);
            for (let step = 0; step < steps; step++) {
              const projector = projectors[choose(3)] as Projector;
              await projector.step("live");
            }
          }
          await projectAll(projectors[0] as Projector);
          assert.deepEqual(await liveStates(driver), expectedStates(events));
        } finally {
          await driver.close();
        }
      },
    ),
    { numRuns: tries(150) },
  );
});

Deno.test("Projector.step() joins orders with what is expected of them whichever comes first, by click id and by reference", async () => {
  const events = [
    session(1, "S1", "C1", "11", "basket-1"),
    session(2, "S2", "C2", "12", "basket-2"),
    session(3, "S3", "C3", "13", "basket-2"),
    orderRead(4, {
      orderId: "O2",
      status: "pending",
      click: "C2",
      created: 4,
    }),
  ];
  for (const order of permutations(events)) {
    for (const maxEvents of [1, 2, 4]) {
      const driver = await emptyStore();
      await append(driver, order);
      await projectAll(new Projector({ driver, assets: "sandbox", maxEvents }));
      const asked = (await rowsOf(
        driver,
        `SELECT ${orderStateSql()} FROM orders ORDER BY order_id`,
      )).map(([state]) =>
        readOrderState(state as string).expected?.currencyAmount
      );
      assert.deepEqual(asked, ["13"]);
      const [[fold] = []] = await rowsOf(
        driver,
        `SELECT ${orderFoldSql()} FROM orders`,
      );
      assert.deepEqual(
        decodeOrderFold(String(fold)).expectations.map(({ id }) => id),
        ["S2", "S3"],
      );
      await driver.close();
    }
  }
});

Deno.test("Projector.step() joins the first session there is with an order whose event was read ahead", async () => {
  const length = 14;
  for (let first = 0; first < length; first++) {
    for (let second = first + 1; second < length; second++) {
      const events = Array.from(
        { length },
        (_, n) => webhook(`L${n}`, n, { type: "login", user: {} }),
      );
      events[first] = session(1, "S1", "C1", "11");
      events[second] = orderRead(2, {
        orderId: "O1",
        status: "pending",
        click: "C1",
        created: 2,
      });
      const driver = await emptyStore();
      await append(driver, events);
      await projectAll(
        new Projector({ driver, assets: "sandbox", maxEvents: 1 }),
      );
      assert.deepEqual(await liveStates(driver), expectedStates(events));
      await driver.close();
    }
  }
});

Deno.test("Projector.step() joins an order with what was last said of its session", async () => {
  const driver = await emptyStore();
  const projector = new Projector({ driver, assets: "sandbox" });
  await append(driver, [
    session(1, "S1", "C1", "11"),
    session(3, "S1", "C1", "13"),
    session(2, "S1", "C1", "12"),
  ]);
  await projectAll(projector);
  await append(driver, [
    orderRead(4, {
      orderId: "O1",
      status: "pending",
      click: "C1",
      created: 4,
    }),
  ]);
  await projectAll(projector);
  const [[state] = []] = await rowsOf(
    driver,
    `SELECT ${orderStateSql()} FROM orders`,
  );
  assert.equal(readOrderState(String(state)).expected?.currencyAmount, "13");
  await driver.close();
});

Deno.test("Projector.step() folds the next step while one is written, and anew where that fails", async () => {
  for (const fails of [false, true]) {
    const driver = await emptyStore();
    const events = Array.from(
      { length: 12 },
      (_, n) => orderRead(n, { orderId: `O${n % 5}`, status: "pending" }),
    );
    await append(driver, events);
    const folded: number[] = [];
    const fold = foldVersion(FOLD_VERSION, (fact) => {
      folded.push(fact.position);
      return fact;
    });
    const held = Promise.withResolvers<void>();
    let writes = 0;
    const projector = new Projector({
      driver: {
        location: driver.location,
        async batch(statements, mode) {
          const moves = statements.some(({ sql }) =>
            sql.startsWith("UPDATE projections SET position")
          );
          if (moves && ++writes === 2) {
            await held.promise;
            if (fails) throw new Crash("while the next step is folded");
          }
          return await driver.batch(statements, mode);
        },
        close: () => Promise.resolve(),
      },
      assets: "sandbox",
      maxEvents: 2,
      fold,
    });
    await projector.step("live");
    const second = projector.step("live");
    await until(() => folded.includes(12));
    assert.equal(writes, 2, "the second step is being written");
    held.resolve();
    if (fails) {
      await assert.rejects(second, Crash);
      folded.length = 0;
      await projectAll(projector);
      assert.deepEqual(folded.toSorted((a, b) => a - b)[0], 3);
    } else {
      assert.equal((await second).position, 10);
      await projectAll(projector);
    }
    assert.deepEqual(await liveStates(driver), expectedStates(events));
    await driver.close();
  }
});

Deno.test("Projector.step() looks at what arrived after an erasure only when the step before is written", async () => {
  await using ledger = await emptyLedger({ now: () => Date.parse(at(60)) });
  const read = (n: number, user: string) =>
    orderRead(n, { orderId: `O${n}`, status: "pending", user });
  await ledger.append([read(1, "U1")]);
  await ledger.project();
  await ledger.erasures.erase("U1", { force: true });
  await ledger.project();
  await ledger.append(
    Array.from({ length: 30 }, (_, n) => read(n + 2, n % 7 ? "U2" : "U1")),
  );
  let writing = 0;
  let most = 0;
  const projector = new Projector({
    driver: {
      location: ledger.driver.location,
      // What reads from the primary is a batch of this mode too.
      async batch(statements, mode) {
        if (mode === "read") return await ledger.driver.batch(statements, mode);
        most = Math.max(most, ++writing);
        await new Promise((resolve) => setTimeout(resolve, 2));
        return await ledger.driver.batch(statements, mode)
          .finally(() => writing--);
      },
      close: () => Promise.resolve(),
    },
    assets: "sandbox",
    maxEvents: 2,
  });
  assert.ok(await projectAll(projector) > 0);
  assert.equal(most, 1);
});

Deno.test("Projector.step() neither skips nor doubles when two connections race", async () => {
  const path = await Deno.makeTempFile({ suffix: ".db" });
  const drivers = [
    await prepared(await openDriver({ url: `file:${path}`, worker: false })),
    await openDriver({ url: `file:${path}`, worker: false }),
  ];
  try {
    const events = Array.from(
      { length: 60 },
      (_, n) =>
        orderWebhook(`W${n}`, n, {
          type: "payment_started",
          orderId: `O${n % 7}`,
        }),
    );
    await append(drivers[0] as Driver, events);
    const folded = await Promise.all(
      drivers.map((driver) =>
        projectAll(new Projector({ driver, assets: "sandbox", maxEvents: 2 }))
      ),
    );
    assert.equal(folded.reduce((a, b) => a + b), 60);
    assert.ok(folded.every((count) => count > 0), `both took part: ${folded}`);
    assert.deepEqual(
      await liveStates(drivers[0] as Driver),
      expectedStates(events),
    );
  } finally {
    for (const driver of drivers) await driver.close();
    await Deno.remove(path);
  }
});

Deno.test("Projector.step() leaves nothing half done wherever the process dies", async () => {
  const events = Array.from({ length: 12 }, (_, n) => [
    orderWebhook(`W${n}`, n, {
      type: n % 2 ? "order_complete" : "payment_started",
      orderId: `O${n % 3}`,
      user: "U1",
      click: "C1",
    }),
    session(n, `S${n}`, "C1"),
  ]).flat();
  for (const when of ["before", "after"] as const) {
    let survived = false;
    for (let write = 1; !survived; write++) {
      const driver = await emptyStore();
      await append(driver, events);
      const dying = crashingDriver(driver, write, when);
      const lives = new Projector({
        driver: dying,
        assets: "sandbox",
        maxEvents: 2,
      });
      try {
        await projectAll(lives);
        survived = true;
        assert.ok(write > 4, "it died in several places");
      } catch (error) {
        assert.ok(error instanceof Crash, String(error));
      }
      await projectAll(
        new Projector({ driver, assets: "sandbox", maxEvents: 5 }),
      );
      assert.deepEqual(await liveStates(driver), expectedStates(events));
      await driver.close();
    }
  }
});

Deno.test("Projector.step() throws what the database refuses, instead of trying for ever", async () => {
  const driver = await emptyStore();
  await append(driver, [orderRead(1, { orderId: "O1", status: "created" })]);
  await driver.batch([{
    sql: `CREATE TRIGGER refuse BEFORE INSERT ON orders
      BEGIN SELECT RAISE(ABORT, 'constraint of a test'); END`,
    args: [],
  }], "write");
  await assert.rejects(
    new Projector({ driver, assets: "sandbox" }).step("live"),
    (error) => error instanceof LedgerError && error.code === "constraint",
  );
  assert.deepEqual(await rowsOf(driver, "SELECT position FROM projections"), [[
    0,
  ]]);
  await driver.close();
});

Deno.test("Projector.step() bounds the bytes of a step, and takes one event however large", async () => {
  const driver = await emptyStore();
  const large = webhook("W1", 1, { type: "login", filler: "x".repeat(5000) });
  const small = ["W2", "W3", "W4"].map((id) =>
    webhook(id, 2, { type: "login" })
  );
  await append(driver, [small[0] as NewEvent, large, ...small.slice(1)]);
  const projector = new Projector({ driver, assets: "sandbox", maxBytes: 100 });
  const sizes = [];
  for (;;) {
    const { events } = await projector.step("live");
    if (events === 0) break;
    sizes.push(events);
  }
  assert.equal(sizes.reduce((a, b) => a + b, 0), 4);
  assert.ok(sizes.length >= 2, `in several steps: ${sizes}`);
  await driver.close();
});

Deno.test("Projector.step() logs each first status of an event, not of a batch, and each once", async () => {
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
    const driver = await emptyStore();
    await append(driver, events);
    await projectAll(new Projector({ driver, assets: "sandbox", maxEvents }));
    assert.deepEqual(
      await rowsOf(
        driver,
        `SELECT trust || '.' || status, position, live FROM transitions
          WHERE machine = 'order' ORDER BY seq`,
      ),
      [
        ["claimed.progress", 1, 1],
        ["claimed.success", 2, 1],
        ["confirmed.success", 5, 1],
        ["confirmed.pending", 6, 1],
      ],
    );
    await driver.close();
  }
});

Deno.test("Projector.step() asks for a confirmation of what webhooks named, at the last time they did", async () => {
  const driver = await emptyStore();
  await append(driver, [
    orderWebhook("W1", 5, {
      type: "payment_started",
      orderId: "O1",
      user: "U1",
    }),
    orderWebhook("W2", 3, { type: "payment_started", orderId: "O1" }),
    orderRead(9, { orderId: "O2", status: "created" }),
    webhook("W3", 7, { type: "made_up", order: { id: "O3" } }),
    webhook("W4", 8, {
      type: "test",
      order: { id: "" },
      click_id: "test_click_id",
    }),
  ]);
  await projectAll(new Projector({ driver, assets: "sandbox", maxEvents: 1 }));
  assert.deepEqual(
    await rowsOf(
      driver,
      `SELECT entity, ${entityIdSql("q")}, wanted_at
        FROM requests AS q WHERE queue = 0
        ORDER BY 1, 2`,
    ),
    [["order", "O1", 5], ["order", "O3", 7], ["user", "U1", 5]].map(
      ([entity, id, day]) => [entity, id, Date.parse(at(Number(day)))],
    ),
  );
  await driver.close();
});

Deno.test("Projector.step() touches nothing that another fold version has made", async () => {
  const driver = await emptyStore();
  const newer = new Projector({
    driver,
    assets: "sandbox",
    fold: foldVersion(9),
  });
  const older = new Projector({
    driver,
    assets: "sandbox",
    fold: foldVersion(8),
  });
  await append(driver, [orderRead(1, { orderId: "O1", status: "created" })]);
  await projectAll(newer);
  await append(driver, [
    orderRead(2, { orderId: "O2", status: "created" }),
    orderRead(2, { orderId: "O1", status: "success" }),
  ]);
  const [[fold = null] = []] = await rowsOf(driver, "SELECT fold FROM orders");
  const rewrite = (fold: SqlValue) =>
    driver.batch(
      [{ sql: "UPDATE orders SET fold = ?", args: [fold] }],
      "write",
    );
  await rewrite("nothing that this version can read");
  const step = await older.step("live");
  assert.equal(step.events, 0);
  assert.equal(step.checkpoints.live?.foldVersion, 9);
  await rewrite(fold);
  assert.deepEqual(await rowsOf(driver, "SELECT order_id FROM orders"), [[
    "O1",
  ]]);
  assert.equal((await newer.step("live")).events, 2);
  await driver.close();
});

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [items.slice()];
  return items.flatMap((item, at) =>
    permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest])
  );
}
