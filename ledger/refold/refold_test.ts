import assert from "node:assert/strict";
import fc from "fast-check";
import type { NewEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { FOLD_VERSION } from "../projection/fold_version.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import {
  Crash,
  crashingDriver,
  emptyStore,
  expectedStates,
  foldVersion,
  liveStates,
  orderRead,
  orderWebhook,
  rowsOf,
  session,
  worlds,
} from "../testing/projection_test_kit.ts";
import { Projector } from "../projection/projector.ts";
import { refold } from "./refold.ts";
import { tries } from "../../tests/kit/thorough.ts";

const events: NewEvent[] = [
  session(1, "S1", "C1"),
  ...Array.from({ length: 9 }, (_, n) => [
    orderWebhook(`W${n}`, n, {
      type: "order_complete",
      orderId: `O${n % 4}`,
      user: `U${n % 2}`,
      click: "C1",
    }),
    orderRead(n, { orderId: `O${n % 4}`, status: "pending", changed: n }),
  ]).flat(),
];

/** A fold in which the service's "pending" means success. */
const kinder = foldVersion(
  99,
  (fact: Fact) =>
    fact.kind === "order_snapshot" && fact.reading.status === "pending"
      ? { ...fact, reading: { ...fact.reading, status: "success" } }
      : fact,
);

async function stored(): Promise<Driver> {
  const driver = await emptyStore();
  await driver.batch([appendStatement(events)], "write");
  await projectAll(new Projector({ driver, assets: "sandbox" }));
  return driver;
}

async function projectAll(projector: Projector): Promise<void> {
  while ((await projector.step("live")).events > 0);
}

function kinderProjector(driver: Driver): Projector {
  return new Projector({
    driver,
    assets: "sandbox",
    maxEvents: 4,
    fold: kinder,
  });
}

Deno.test("refold() builds the states of another fold beside the live ones and swaps them", async () => {
  const driver = await stored();
  const transitions = await rowsOf(driver, "SELECT * FROM transitions");
  const progress: number[] = [];
  const done = await refold(kinderProjector(driver), driver, {
    compare: true,
    onProgress: ({ position }) => progress.push(position),
  });
  assert.equal(done?.swapped, true);
  assert.equal(done.events, events.length);
  assert.equal(done.changed, 4);
  assert.deepEqual(done.changes.map(({ id }) => id), ["O0", "O1", "O2", "O3"]);
  assert.deepEqual(
    done.changes[0]?.fields.find(({ field }) => field === "trust"),
    {
      field: "trust",
      before: "claimed",
      after: "confirmed",
    },
  );
  assert.deepEqual(progress, progress.toSorted((a, b) => a - b));
  assert.deepEqual(
    await rowsOf(driver, "SELECT DISTINCT trust, status FROM orders"),
    [["confirmed", "success"]],
  );
  const logged = await rowsOf(driver, "SELECT * FROM transitions");
  assert.deepEqual(logged.slice(0, transitions.length), transitions);
  const added = await rowsOf(
    driver,
    `SELECT DISTINCT machine, live FROM transitions
      WHERE seq > ${transitions.length}`,
  );
  assert.deepEqual(added, [["release", 0]], "releases, and nobody is told");
  assert.deepEqual(
    await rowsOf(
      driver,
      "SELECT name, fold_version, position FROM projections",
    ),
    [["live", 99, events.length]],
  );
  for (const table of ["orders", "users", "order_links", "expectations"]) {
    const generations = await rowsOf(
      driver,
      `SELECT DISTINCT generation FROM ${table}`,
    );
    assert.equal(generations.length, 1, `${table} holds old states`);
  }
  await driver.close();
});

Deno.test("refold() by the same fold changes nothing", async () => {
  const driver = await stored();
  const projector = new Projector({ driver, assets: "sandbox", maxEvents: 5 });
  const done = await refold(projector, driver, { compare: true });
  assert.deepEqual([done?.changed, done?.swapped], [0, true]);
  assert.deepEqual(await liveStates(driver), expectedStates(events));
  await driver.close();
});

Deno.test("refold() gives the same states whenever its reads and writes are carried out", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(),
      fc.integer({ min: 1, max: 3 }),
      fc.infiniteStream(fc.nat({ max: 3 })),
      async (events, maxEvents, delays) => {
        const driver = await emptyStore();
        try {
          await driver.batch([appendStatement(events)], "write");
          await projectAll(new Projector({ driver, assets: "sandbox" }));
          // As over a network: what was asked first need not be done first.
          const late: Driver = {
            location: driver.location,
            async batch(statements, mode) {
              const [ticks] = delays.take(1);
              for (let tick = 0; tick < (ticks ?? 0); tick++) {
                await new Promise((resolve) => setImmediate(resolve));
              }
              return await driver.batch(statements, mode);
            },
            close: () => Promise.resolve(),
          };
          const done = await refold(
            new Projector({ driver: late, assets: "sandbox", maxEvents }),
            late,
            { compare: true },
          );
          assert.deepEqual([done?.changed, done?.swapped], [0, true]);
          assert.deepEqual(await liveStates(driver), expectedStates(events));
        } finally {
          await driver.close();
        }
      },
    ),
    { numRuns: tries(60) },
  );
});

Deno.test("refold() as a dry run says what would change, and changes nothing", async () => {
  const driver = await stored();
  const before = await liveStates(driver);
  const done = await refold(kinderProjector(driver), driver, {
    compare: true,
    dryRun: true,
    maxChanges: 3,
  });
  assert.equal(done?.changed, 4);
  assert.equal(done.changes.length, 3);
  assert.equal(done.swapped, false);
  assert.deepEqual(await liveStates(driver), before);
  assert.equal((await rowsOf(driver, "SELECT * FROM projections")).length, 1);
  assert.equal(
    (await rowsOf(driver, "SELECT DISTINCT generation FROM orders")).length,
    1,
  );
  await driver.close();
});

Deno.test("refold() goes on where it was killed, wherever that is, and folds nothing twice", async () => {
  let complete = false;
  for (let write = 1; !complete; write++) {
    assert.ok(write < 60, "it ends");
    for (const when of ["before", "after"] as const) {
      const driver = await stored();
      const dying = crashingDriver(driver, write, when);
      let first = 0;
      try {
        await refold(kinderProjector(dying), dying, {
          compare: false,
          onProgress: ({ events }) => first = events,
        });
        complete = true;
      } catch (error) {
        assert.ok(error instanceof Crash, String(error));
      }
      const swapped = (await rowsOf(
        driver,
        "SELECT 1 FROM projections WHERE name = 'live' AND fold_version = 99",
      )).length === 1;
      if (!swapped) {
        const done = await refold(kinderProjector(driver), driver, {
          compare: false,
        });
        assert.ok((done?.events ?? 0) <= events.length - first + 4, "resumed");
      }
      assert.deepEqual(
        await rowsOf(
          driver,
          "SELECT DISTINCT trust, status FROM orders WHERE generation = (SELECT generation FROM projections WHERE name = 'live')",
        ),
        [["confirmed", "success"]],
      );
      await refold(kinderProjector(driver), driver, { compare: false });
      assert.equal(
        (await rowsOf(driver, "SELECT DISTINCT generation FROM orders")).length,
        1,
      );
      await driver.close();
    }
  }
});

Deno.test("refold() catches up with an older version that goes on folding meanwhile", async () => {
  const driver = await stored();
  const older = new Projector({ driver, assets: "sandbox" });
  let late = 0;
  const done = await refold(kinderProjector(driver), driver, {
    compare: true,
    onProgress: ({ position, of }) => {
      if (position < of || late >= 3) return;
      late++;
      // What the older version appends and folds after the last step.
      pending.push((async () => {
        await driver.batch([
          appendStatement([
            orderRead(40 + late, { orderId: `L${late}`, status: "pending" }),
          ]),
        ], "write");
        await projectAll(older);
      })());
    },
  });
  await Promise.all(pending.splice(0));
  assert.ok(late > 0, "the older version took part");
  await projectAll(kinderProjector(driver));
  assert.equal(done?.swapped, true);
  assert.deepEqual(
    await rowsOf(driver, "SELECT DISTINCT trust, status FROM orders"),
    [["confirmed", "success"]],
  );
  assert.equal((await rowsOf(driver, "SELECT * FROM orders")).length, 4 + late);
  await driver.close();
});

const pending: Promise<void>[] = [];

Deno.test("refold() by two processes at once ends in one set of states", async () => {
  const driver = await stored();
  const [a, b] = await Promise.all(
    [1, 2].map(() =>
      refold(kinderProjector(driver), driver, { compare: false })
    ),
  );
  assert.equal([a, b].filter((done) => done?.swapped).length, 1);
  assert.equal((await rowsOf(driver, "SELECT * FROM orders")).length, 4);
  assert.equal((await rowsOf(driver, "SELECT * FROM projections")).length, 1);
  await driver.close();
});

Deno.test("refold() refuses to go back to an older fold, and begins anew for a newer one", async () => {
  const driver = await stored();
  const dying = crashingDriver(driver, 4, "after");
  await assert.rejects(
    refold(kinderProjector(dying), dying, { compare: false }),
    Crash,
  );
  const half = await rowsOf(
    driver,
    "SELECT position FROM projections WHERE name = 'next'",
  );
  assert.ok((half[0]?.[0] as number) > 0, "half built");
  const newest = new Projector({
    driver,
    assets: "sandbox",
    fold: { ...kinder, version: 100 },
  });
  const done = await refold(newest, driver, { compare: false });
  assert.equal(done?.events, events.length);
  await assert.rejects(
    refold(kinderProjector(driver), driver, { compare: false }),
    (error) =>
      error instanceof LedgerError && /newer version/.test(error.message),
  );
  await driver.close();
});

/** The fold before times of the service were bounded: it believed them all. */
const believing = foldVersion(FOLD_VERSION - 1, (fact: Fact) => {
  if (fact.kind !== "order_snapshot") return fact;
  const { reading } = fact;
  const changedAt = reading.statedChangedAt ?? reading.changedAt;
  return {
    ...fact,
    reading: { ...reading, changedAt, statedChangedAt: null },
  };
});

Deno.test("refold() heals a ledger in which an answer dated 2099 froze an order", async () => {
  const driver = await emptyStore();
  const events = [
    orderRead(1, {
      orderId: "O1",
      status: "pending",
      changedAt: "2099-01-01 00:00:00",
    }),
    orderRead(9, { orderId: "O1", status: "failed", changed: 8 }),
  ];
  await driver.batch([appendStatement(events)], "write");
  const old = { driver, assets: "sandbox", fold: believing } as const;
  await projectAll(new Projector(old));
  const status = () => rowsOf(driver, "SELECT status FROM orders");
  assert.deepEqual(await status(), [["pending"]], "frozen");
  const today = new Projector({ driver, assets: "sandbox" });
  const done = await refold(today, driver, { compare: true });
  assert.equal(done?.swapped, true);
  assert.deepEqual(await status(), [["failed"]]);
  assert.deepEqual(await liveStates(driver), expectedStates(events));
  await driver.close();
});
