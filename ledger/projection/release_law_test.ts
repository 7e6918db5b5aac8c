import type { HandOutcome, NewEvent } from "../events/event.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { orderAbsent, orderReleased } from "../testing/mint.ts";
import type { Transition } from "../machines/transition.ts";
import { orderRelease } from "../releases/order_release.ts";
import type { Driver } from "../store/database.ts";
import { readTransitions } from "../reads/releases.ts";
import {
  at,
  expectation,
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { append, newLedger, projectAll, select } from "../testing/fold_kit.ts";
import { unpackOrder } from "./rows.ts";
import { project } from "./project.ts";
import { isThorough, tries } from "../../tests/kit/thorough.ts";

const salt = new Uint8Array(16);

/** That a person delivered or refunded an order. */
function byHand(
  minute: number,
  orderId: string,
  outcome: HandOutcome,
  reference?: string | null,
): NewEvent {
  return orderReleased({
    released: {
      order_id: orderId,
      outcome,
      by: "Ada",
      why: "test",
      ...(reference ? { for: reference } : {}),
    },
    recordedAt: at(minute),
    salt,
  });
}

/** Events of which most move the release of one of three orders. */
function histories(maxLength: number): fc.Arbitrary<NewEvent[]> {
  const minute = fc.integer({ min: 0, max: 60 });
  const orderId = fc.constantFrom("O0", "O1", "O2");
  const click = fc.constantFrom("C0", "C0", "C0", "C1", null);
  const made = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        minute,
        orderId,
        click,
        created: fc.constantFrom(0, 30, 30, 30),
        status: fc.constantFrom(
          "success",
          "success",
          "success",
          "pending",
          "failed",
          "cancelled",
        ),
        tx: fc.constantFrom("0xT", "0xT", "0xT", "0xT", ""),
      }).map((one) => () => orderRead(one.minute, one)),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        minute: fc.constantFrom(0, 1, 20, 40),
        id: fc.constantFrom("S0", "S1", "S2"),
        click,
        amount: fc.constantFrom("10", "10", "10", "12"),
        reference: fc.constantFrom("basket-1", "basket-1", "basket-2", null),
      }).map(({ minute, id, click, amount, reference }) => () =>
        session(minute, id, click, amount, reference)
      ),
    },
    fc.record({ minute, orderId }).map(({ minute, orderId }) => () =>
      orderAbsent({ orderId, readAt: at(minute), recordedAt: at(minute), salt })
    ),
    fc.record({
      minute,
      orderId,
      outcome: fc.constantFrom(
        ...["delivered", "delivered", "refunded"] as const,
        ...["written_off", "taken_back", "taken_back"] as const,
      ),
      reference: fc.constantFrom("basket-1", "basket-2", null),
    }).map(({ minute, orderId, outcome, reference }) => () =>
      byHand(minute, orderId, outcome, reference)
    ),
    fc.record({
      minute,
      orderId,
      click,
      type: fc.constantFrom("order_complete", "order_failed"),
    }).map((one) => (id: string) => orderWebhook(id, one.minute, one)),
  );
  return fc.array(made, { maxLength }).map((makers) => {
    const events = makers.map((make, place) => make(`W${place}`));
    return [...new Map(events.map((one) => [one.eventId, one])).values()];
  });
}

async function readReleases(driver: Driver): Promise<Transition[]> {
  const all: Transition[] = [];
  for (;;) {
    const page = await readTransitions(driver, {
      entity: "order",
      after: all.at(-1)?.seq ?? 0,
      limit: 1000,
    });
    if (page.length === 0) break;
    all.push(...page);
  }
  return all.filter(({ machine }) => machine === "release");
}

/** The law: the last entry of each order says what its state says. */
async function checkLaw(driver: Driver, seen: Set<string>): Promise<void> {
  const releases = await readReleases(driver);
  for (const { logged } of releases) {
    seen.add(`${logged?.entered} ${logged?.reason}`);
  }
  const orders = await select(
    driver,
    "SELECT id, fold, release, reason FROM orders",
  );
  const given = new Set(
    (await select(
      driver,
      `SELECT o.id FROM events JOIN mentions USING (position)
        JOIN orders AS o USING (no) WHERE kind = 'order_released'
        AND instr(CAST(body AS TEXT), '"delivered"') > 0`,
    )).map(({ id }) => id),
  );
  for (const { id, fold, release, reason } of orders) {
    const own = releases.filter((one) => one.id === id);
    const decided = orderRelease(unpackOrder(String(id), String(fold)), {
      assets: "sandbox",
    });
    const last = own.at(-1)?.logged ?? null;
    if (decided === null) {
      assert.equal(last, null, `${id} is logged before a success`);
      continue;
    }
    const settled = decided.release === "no" ? null : decided.byHand;
    const alone = settled === null
      ? [decided.release, decided.reason]
      : ["settled", settled];
    // The purchase is another order's.
    const isTwice = alone[0] === "yes" && reason === "paid_twice";
    assert.deepEqual([release, reason], isTwice ? ["wait", reason] : alone);
    assert.deepEqual([last?.release, last?.reason], [release, reason]);
    let hadYes: boolean = false;
    for (const [place, { logged, reverses, entry, key }] of own.entries()) {
      const before = own[place - 1]?.logged;
      assert.ok(
        logged?.release !== before?.release ||
          logged?.reason !== before?.reason,
        `${key} repeats the entry before`,
      );
      const isWithdrawal: boolean = hadYes && logged?.release !== "yes" &&
        !(logged?.release === "settled" && logged.reason === "delivered");
      // Goods that a person delivered are taken back like a yes.
      const mayBeOfGoods = given.has(id) && !hadYes &&
        !["yes", "settled"].includes(logged?.release ?? "");
      if (!mayBeOfGoods) {
        assert.deepEqual(reverses, isWithdrawal ? ["yes"] : [], key);
      }
      assert.equal(
        logged?.entered === "restored",
        hadYes && logged?.release === "yes",
        key,
      );
      const same = own.slice(0, place + 1)
        .filter((one) => one.logged?.entered === logged?.entered);
      assert.equal(entry, same.length, key);
      hadYes ||= logged?.release === "yes";
    }
  }
  const first = releases.filter(({ logged }) => logged?.entered === "yes");
  assert.equal(new Set(first.map(({ id }) => id)).size, first.length);
}

async function folded(
  events: readonly NewEvent[],
  choose: (below: number) => number,
): Promise<Driver & AsyncDisposable> {
  const driver = await newLedger();
  for (let from = 0; from < events.length;) {
    const to = from + 1 + choose(12);
    await append(driver, events.slice(from, to));
    from = to;
    for (let steps = choose(3); steps > 0; steps--) {
      await project(driver, { assets: "sandbox", maxEvents: 1 + choose(4) });
    }
  }
  await projectAll(driver);
  return driver;
}

Deno.test("project() ends the release log of each order with what its state says, whatever the batches", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      histories(40),
      fc.infiniteStream(fc.nat()),
      async (events, choices) => {
        const choose = (below: number) =>
          (choices.next().value as number) % below;
        await using driver = await folded(
          events.toSorted(() => choose(3) - 1),
          choose,
        );
        await checkLaw(driver, seen);
      },
    ),
    { numRuns: tries(300) },
  );
  if (!isThorough) return;
  for (
    const expected of [
      "yes session_matched",
      "no final_changed",
      "wait paid_twice",
      "wait not_as_requested",
      "wait absent",
      "unchecked nothing_recorded",
    ]
  ) assert.ok(seen.has(expected), `no history led to ${expected}`);
});

const SUCCESS = { orderId: "O1", status: "success", click: "C1", tx: "0xT" };

/** The orders that hold purchases. */
async function holders(driver: Driver): Promise<unknown[]> {
  const held = await select(
    driver,
    `SELECT o.id FROM purchases AS p JOIN orders AS o USING (no)
      WHERE held > 0 ORDER BY 1`,
  );
  return held.map(({ id }) => id);
}

/** What is logged of releases, by key, with reason and what is taken back. */
async function releasesOf(...events: NewEvent[]) {
  await using driver = await folded(events, (below) => Math.min(below - 1, 3));
  const releases = await readReleases(driver);
  return releases.map(({ key, logged, reverses, after }) => [
    key.slice("order:".length),
    logged?.reason,
    [...reverses, ...after].join(),
  ]);
}

Deno.test("project() logs yes once, and restored after it was taken back", async () => {
  const absent = (minute: number) =>
    orderAbsent({
      orderId: "O1",
      readAt: at(minute),
      recordedAt: at(minute),
      salt,
    });
  assert.deepEqual(
    await releasesOf(
      session(0, "S1", "C1"),
      orderRead(5, { ...SUCCESS, created: 2 }),
      absent(6),
      orderRead(7, { ...SUCCESS, created: 2 }),
      absent(8),
      orderRead(9, { ...SUCCESS, created: 2 }),
      orderRead(10, { ...SUCCESS, created: 2, status: "failed" }),
    ),
    [
      ["O1:release.yes", "session_matched", ""],
      ["O1:release.wait", "absent", "yes"],
      ["O1:release.restored", "session_matched", ""],
      ["O1:release.wait#2", "absent", "yes"],
      ["O1:release.restored#2", "session_matched", ""],
      ["O1:release.no", "final_changed", "yes"],
    ],
  );
});

Deno.test("project() logs wait for a reading of 10 on an expectation of 900, never yes", async () => {
  const read = orderRead(5, { ...SUCCESS, created: 2 });
  const expected = session(0, "S1", "C1", "900");
  for (const events of [[expected, read], [read, expected]]) {
    const logged = await releasesOf(...events);
    assert.equal(logged.some(([key]) => key?.includes("yes")), false);
    assert.deepEqual(logged.at(-1)?.slice(1), ["not_as_requested", ""]);
  }
});

Deno.test("project() says of a yes that unchecked was told before it", async () => {
  assert.deepEqual(
    await releasesOf(
      orderRead(5, { ...SUCCESS, created: 2 }),
      session(3, "S1", "C1"),
    ),
    [
      ["O1:release.unchecked", "nothing_recorded", ""],
      ["O1:release.yes", "session_matched", "unchecked"],
    ],
  );
});

Deno.test("project() logs yes once a purchase: a second order of it waits, whatever becomes of the first", async () => {
  const second = { ...SUCCESS, orderId: "O2", created: 3 };
  const expected = session(0, "S1", "C1", "10", "basket-1");
  const others = session(1, "S2", "C2", "10", "basket-1");
  const events = [
    expected,
    others,
    orderRead(5, { ...SUCCESS, created: 2 }),
    orderRead(6, { ...second, click: "C2" }),
    orderRead(7, { ...SUCCESS, created: 2, status: "failed" }),
    orderRead(8, { ...second, click: "C2", status: "pending" }),
    orderRead(9, { ...second, click: "C2" }),
  ];
  assert.deepEqual(await releasesOf(...events), [
    ["O1:release.yes", "session_matched", ""],
    ["O2:release.wait", "paid_twice", ""],
    ["O1:release.no", "final_changed", "yes"],
    ["O2:release.wait#2", "final_changed", ""],
    ["O2:release.wait#3", "paid_twice", ""],
  ]);
});

const BASKET_1 = { ...SUCCESS, created: 2 };
const BASKET_1_AGAIN = { ...SUCCESS, orderId: "O2", created: 3, click: "C2" };
const EXPECTED = [
  session(0, "S1", "C1", "10", "basket-1"),
  session(1, "S2", "C2", "10", "basket-1"),
];

Deno.test("project() logs neither yes nor restored of an order that a person has settled", async () => {
  const pending = { ...BASKET_1, status: "pending" };
  for (const outcome of ["delivered", "refunded", "written_off"] as const) {
    assert.deepEqual(
      await releasesOf(
        ...EXPECTED,
        orderRead(5, pending),
        byHand(6, "O1", outcome),
        orderRead(7, BASKET_1),
        orderRead(8, { ...BASKET_1, status: "failed" }),
      ),
      [
        ["O1:release.settled", outcome, ""],
        [
          "O1:release.no",
          "final_changed",
          outcome === "delivered" ? "yes" : "",
        ],
      ],
    );
  }
});

Deno.test("project() logs yes once what a person recorded before it is taken back", async () => {
  assert.deepEqual(
    await releasesOf(
      ...EXPECTED,
      orderRead(5, { ...BASKET_1, status: "pending" }),
      byHand(6, "O1", "delivered", "basket-1"),
      orderRead(7, BASKET_1),
      byHand(8, "O1", "taken_back"),
    ),
    [
      ["O1:release.settled", "delivered", ""],
      ["O1:release.yes", "session_matched", ""],
    ],
  );
});

Deno.test("project() lets what was settled after a yes take it back, but for goods", async () => {
  for (const outcome of ["delivered", "refunded", "written_off"] as const) {
    assert.deepEqual(
      await releasesOf(
        ...EXPECTED,
        orderRead(5, BASKET_1),
        byHand(6, "O1", outcome, outcome === "delivered" ? "basket-1" : null),
        byHand(7, "O1", "taken_back"),
      ),
      [
        ["O1:release.yes", "session_matched", ""],
        ["O1:release.settled", outcome, outcome === "delivered" ? "" : "yes"],
        ["O1:release.restored", "session_matched", ""],
      ],
    );
  }
});

Deno.test("project() gives the purchase of two orders that one expectation brings to the first by id, whatever the batches", async () => {
  const order = { ...SUCCESS, created: 2 };
  for (const size of [1, 100]) {
    await using driver = await folded([
      orderRead(5, { ...order, orderId: "O2" }),
      orderRead(6, order),
      session(0, "S1", "C1", "10", "basket-1"),
    ], (below) => Math.min(below - 1, size));
    assert.deepEqual(await holders(driver), ["O1"]);
  }
});

Deno.test("project() takes of two terms of one millisecond the one whose id is greater, whatever came first", async () => {
  const terms = [["E1", "10"], ["E2", "900"]].map(([id = "", amount = ""]) =>
    expectation(id, 1, { click: "C1", reference: "basket-1", amount })
  );
  for (const both of [terms, terms.toReversed()]) {
    for (const size of [1, 100]) {
      await using driver = await folded(
        [...both, orderRead(6, { ...SUCCESS, created: 2 })],
        (below) => Math.min(below - 1, size),
      );
      const [release] = await readReleases(driver);
      assert.equal(release?.logged?.reason, "not_as_requested");
    }
  }
});

Deno.test("project() takes what a person recorded last, whatever came first", async () => {
  const read = orderRead(10, { ...SUCCESS, created: 2 });
  const [refunded, delivered] = [
    byHand(9, "O1", "refunded"),
    byHand(8, "O1", "delivered", "basket-1"),
  ];
  assert.deepEqual(await releasesOf(refunded, delivered, read), [
    ["O1:release.settled", "refunded", ""],
  ]);
  assert.deepEqual(await releasesOf(delivered, refunded, read), [
    ["O1:release.settled", "delivered", ""],
    ["O1:release.settled#2", "refunded", ""],
  ]);
});

Deno.test("project() frees nothing for a refund", async () => {
  assert.deepEqual(
    await releasesOf(
      ...EXPECTED,
      orderRead(5, BASKET_1),
      orderRead(6, BASKET_1_AGAIN),
      byHand(7, "O1", "refunded"),
      byHand(8, "O1", "written_off"),
    ),
    [
      ["O1:release.yes", "session_matched", ""],
      ["O2:release.wait", "paid_twice", ""],
      ["O1:release.settled", "refunded", "yes"],
      ["O1:release.settled#2", "written_off", "yes"],
    ],
  );
});

Deno.test("project() asks no receiver what a person's release does", async () => {
  await using driver = await folded(
    [...EXPECTED, orderRead(5, BASKET_1), orderRead(6, BASKET_1_AGAIN)],
    (below) => below - 1,
  );
  await driver.batch([{
    sql: `INSERT INTO handed (no, name, seq, state)
      SELECT no, 'shop', 1, 'begun' FROM orders WHERE id = 'O1'`,
    args: [],
  }], "write");
  await append(driver, [byHand(7, "O1", "refunded")]);
  await projectAll(driver);
  const last = (await readReleases(driver)).at(-1);
  assert.equal(last?.key, "order:O1:release.settled");
  assert.deepEqual(await holders(driver), ["O1"]);
});

Deno.test("project() moves the purchase that a person delivered, and moves it back where that is taken back", async () => {
  assert.deepEqual(
    await releasesOf(
      ...EXPECTED,
      orderRead(5, BASKET_1),
      orderRead(6, BASKET_1_AGAIN),
      byHand(7, "O2", "delivered", "basket-1"),
      byHand(8, "O2", "taken_back"),
    ),
    [
      ["O1:release.yes", "session_matched", ""],
      ["O2:release.wait", "paid_twice", ""],
      ["O1:release.wait", "paid_twice", "yes"],
      ["O2:release.settled", "delivered", ""],
      ["O1:release.restored", "session_matched", ""],
      ["O2:release.wait#2", "paid_twice", ""],
    ],
  );
});

Deno.test("project() gives what nobody had before to the order that has said yes for it longest", async () => {
  const third = { ...BASKET_1, orderId: "O3", created: 3, click: "C9" };
  assert.deepEqual(
    await releasesOf(
      ...EXPECTED,
      orderRead(4, { ...third, status: "pending" }),
      byHand(5, "O3", "delivered", "basket-1"),
      orderRead(6, BASKET_1_AGAIN),
      orderRead(7, BASKET_1),
      byHand(8, "O3", "taken_back"),
    ),
    [
      ["O3:release.settled", "delivered", ""],
      ["O2:release.wait", "paid_twice", ""],
      ["O1:release.wait", "paid_twice", ""],
      ["O2:release.yes", "session_matched", ""],
      ["O3:release.wait", "not_final", ""],
    ],
  );
});

Deno.test("project() lets an order take one purchase by itself in its life", async () => {
  const [r1, r2] = [
    session(0, "S1", "C1", "10", "r1"),
    session(1, "S2", "C2", "10", "r2"),
  ];
  const x = { ...SUCCESS, created: 2 };
  assert.deepEqual(
    await releasesOf(
      ...[r1, r2],
      orderRead(5, x),
      orderRead(6, { ...x, click: "C2", changed: 6 }),
      orderRead(7, { ...x, orderId: "O2", click: "C2" }),
      orderRead(8, { ...x, changed: 8 }),
    ),
    [
      ["O1:release.yes", "session_matched", ""],
      ["O1:release.wait", "paid_twice", "yes"],
      ["O2:release.yes", "session_matched", ""],
      ["O1:release.restored", "session_matched", ""],
    ],
  );
});

Deno.test("project() logs the same releases whatever the batches", async () => {
  await fc.assert(
    fc.asyncProperty(
      histories(14),
      fc.infiniteStream(fc.nat()),
      async (events, choices) => {
        const logs = [];
        for (const size of [1, 3, 100]) {
          await using driver = await folded(
            events,
            size === 3
              ? (below) => (choices.next().value as number) % below
              : (below) => Math.min(below - 1, size),
          );
          const releases = await readReleases(driver);
          const taken = await select(
            driver,
            `SELECT hex(name) AS name, o.id, held, since FROM purchases AS p
              JOIN orders AS o USING (no) ORDER BY 1, 2, 3`,
          );
          logs.push([
            ...releases.map(({ key, position }) => `${key} ${position}`),
            ...taken.map((row) => JSON.stringify(row)),
          ]);
        }
        assert.deepEqual(logs[1], logs[0]);
        assert.deepEqual(logs[2], logs[0]);
      },
    ),
    { numRuns: tries(100) },
  );
});
