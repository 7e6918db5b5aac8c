import assert from "node:assert/strict";
import fc from "fast-check";
import { timeOf } from "../store/tables/stored_times.ts";
import { userSnapshot } from "../events/mint.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  decodeCursor,
  encodeCursor,
  queryTime,
} from "../store/tables/query_values.ts";
import {
  at,
  emptyStore,
  expectedStates,
  orderRead,
  orderWebhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import { type OrderQuery, Orders, orderSelection } from "./orders.ts";
import { Projector } from "../projection/projector.ts";
import type { Selection } from "../store/tables/lists/selection.ts";
import { pageStatement } from "../store/tables/lists/state_pages.ts";
import { type UserQuery, Users, userSelection } from "./users.ts";
import { tries } from "../../tests/kit/thorough.ts";

async function project(driver: Driver): Promise<void> {
  const projector = new Projector({ driver, assets: "sandbox" });
  while ((await projector.step("live")).events > 0);
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

Deno.test("Orders.list() finds what a filter over all orders finds, in pages of any size", async () => {
  const queries: fc.Arbitrary<OrderQuery> = fc.record({
    status: fc.constantFrom("created", "success", "failed", "on hold"),
    trust: fc.constantFrom("claimed" as const, "confirmed" as const),
    userId: fc.constantFrom("U0", "U1"),
    clickId: fc.constantFrom("C0", "C1"),
    commodity: fc.constantFrom("btc", "BTC", "eth"),
    open: fc.boolean(),
    anomaly: fc.constantFrom(true as const, "regression", "amount_mismatch"),
    createdAfter: fc.integer({ min: -5, max: 90 }).map(at),
    createdUpTo: fc.integer({ min: -5, max: 90 }).map(at),
    sort: fc.constantFrom("newest" as const, "oldest" as const),
    limit: fc.integer({ min: 1, max: 4 }),
  }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(
      worlds(60),
      fc.array(queries, { minLength: 8, maxLength: 8 }),
      async (events, queries) => {
        const driver = await emptyStore();
        if (events.length > 0) {
          await driver.batch([appendStatement(events)], "write");
        }
        await project(driver);
        const orders = new Orders(driver);
        const named = (clickId: string, kinds: readonly string[]) =>
          new Set(
            events.filter((event) =>
              event.clickId === clickId && kinds.includes(event.kind)
            ).map(({ orderId }) => orderId),
          );
        const ofClick = (clickId: string) => {
          const confirmed = named(clickId, ["order_snapshot"]);
          return confirmed.size > 0
            ? confirmed
            : named(clickId, ["webhook", "session_created"]);
        };
        const all = Object.entries(expectedStates(events))
          .filter(([key]) => key.startsWith("order:"))
          .map(([, { state, activity }]) => ({
            ...JSON.parse(state),
            activity: JSON.parse(activity),
          }));
        const [times] = await driver.batch([
          { sql: "SELECT order_id, sort_at FROM orders", args: [] },
        ], "read");
        const sortedAt = new Map(
          times?.rows.map(([id, at]) => [id, timeOf(at ?? 0)]),
        );
        for (const query of queries) {
          const time = (order: typeof all[number]): string =>
            isDatedAhead(order)
              // The time of the reading stands for the one that is stated.
              ? String(sortedAt.get(order.orderId))
              : order.createdAt === null
              ? order.activity.firstRecordedAt
              : new Date(order.createdAt).toISOString();
          const expected = all.filter((order) =>
            (query.status === undefined || order.status === query.status) &&
            (query.trust === undefined || order.trust === query.trust) &&
            (query.userId === undefined || order.userId === query.userId) &&
            (query.clickId === undefined ||
              ofClick(query.clickId).has(order.orderId)) &&
            (query.commodity === undefined ||
              order.commodity === query.commodity.toUpperCase()) &&
            (query.open === undefined || query.open === isOpen(order)) &&
            (query.anomaly === undefined || order.anomalies.some(
              (one: { kind: string }) =>
                query.anomaly === true || one.kind === query.anomaly,
            )) &&
            (query.createdAfter === undefined ||
              time(order) > query.createdAfter) &&
            (query.createdUpTo === undefined ||
              time(order) <= query.createdUpTo)
          ).sort((a, b) => {
            const [x, y] = [
              `${time(a)} ${a.orderId}`,
              `${time(b)} ${b.orderId}`,
            ];
            const sign = query.sort === "oldest" ? 1 : -1;
            return x < y ? -sign : x > y ? sign : 0;
          });
          const found = await collect(orders.list(query));
          assert.deepEqual(
            found.map(({ context: _, ...order }) => order),
            expected,
          );
        }
        await driver.close();
      },
    ),
    { numRuns: tries(40) },
  );
});

function isDatedAhead(
  { anomalies }: { anomalies: readonly { kind: string; field?: string }[] },
): boolean {
  return anomalies.some(({ kind, field }) =>
    kind === "time_in_future" && field === "createdAt"
  );
}

function isOpen(order: {
  status: string;
  trust: string;
  anomalies: { kind: string }[];
}): boolean {
  return order.trust === "claimed" ||
    !["success", "failed", "cancelled"].includes(order.status) ||
    order.anomalies.some(({ kind }) => kind === "contested");
}

Deno.test("Orders.find() takes what the service has shown under a reference, and lists what only webhooks name beside it", async () => {
  const driver = await emptyStore();
  await driver.batch([appendStatement([
    orderRead(1, {
      orderId: "O1",
      status: "created",
      click: "C",
      external: "X1",
      created: 1,
    }),
    orderWebhook("W1", 2, {
      type: "payment_started",
      orderId: "O2",
      click: "C",
      session: "S",
      external: "O1",
    }),
    // Invented: an order whose id is somebody's click id, or external id.
    orderWebhook("W2", 3, { type: "order_complete", orderId: "C" }),
    orderWebhook("W3", 4, { type: "order_complete", orderId: "X1" }),
  ])], "write");
  await project(driver);
  const orders = new Orders(driver);
  const ids = async (reference: string) => {
    const { confirmed, claimed } = await orders.find(reference);
    return [confirmed, claimed].map((found) => found.map((one) => one.orderId));
  };
  assert.deepEqual(await ids("O1"), [["O1"], []]);
  assert.deepEqual(await ids("X1"), [["O1"], ["X1"]]);
  assert.deepEqual(await ids("C"), [["O1"], ["C", "O2"]]);
  assert.deepEqual(await ids("S"), [[], ["O2"]]);
  assert.deepEqual(await ids("O2"), [[], ["O2"]]);
  assert.deepEqual(await ids("nobody"), [[], []]);
  const listed = (clickId: string) =>
    collect(orders.list({ clickId })).then((found) =>
      found.map(({ orderId }) => orderId)
    );
  assert.deepEqual(await listed("C"), ["O1"]);
  // The service shows the other one as well: both are meant from then on.
  await driver.batch([appendStatement([
    orderRead(5, { orderId: "O2", status: "created", click: "C", created: 2 }),
  ])], "write");
  await project(driver);
  assert.deepEqual(await ids("C"), [["O1", "O2"], ["C"]]);
  assert.deepEqual(await listed("C"), ["O2", "O1"]);
  assert.equal(await orders.get("S"), null);
  assert.equal((await orders.get("O2"))?.activity.events, 2);
  await driver.close();
});

Deno.test("Orders.find() does not read all that share an id, and list() does", async () => {
  const driver = await emptyStore();
  await driver.batch([appendStatement(
    Array.from({ length: 130 }, (_, n) =>
      orderRead(n, {
        orderId: `O${n}`,
        status: "created",
        click: "C",
        created: n,
      })),
  )], "write");
  await project(driver);
  const orders = new Orders(driver);
  const { confirmed: found } = await orders.find("C");
  assert.equal(found.length, 100);
  assert.equal(found.at(-1)?.orderId, "O99");
  assert.equal((await collect(orders.list({ clickId: "C" }))).length, 130);
  await driver.close();
});

Deno.test("Users.list() filters and pages", async () => {
  const driver = await emptyStore();
  const users = new Users(driver);
  await driver.batch([appendStatement(
    ["U1", "U2", "U3"].map((user, n) =>
      orderWebhook(`W${n}`, n, { type: "payment_started", orderId: "O1", user })
    ),
  )], "write");
  await project(driver);
  const ids = async (query: UserQuery) =>
    (await collect(users.list(query))).map(({ userId }) => userId);
  assert.deepEqual(await ids({ limit: 1 }), ["U3", "U2", "U1"]);
  assert.deepEqual(await ids({ sort: "oldest", createdAfter: at(0) }), [
    "U2",
    "U3",
  ]);
  assert.deepEqual(await ids({ status: "initiated", trust: "claimed" }), [
    "U3",
    "U2",
    "U1",
  ]);
  assert.deepEqual(await ids({ status: "failed" }), []);
  assert.equal(await users.get("U9"), null);
  await driver.close();
});

Deno.test.each([
  [{}, "orders_by_time"],
  [
    { sort: "oldest", createdAfter: at(0), createdUpTo: at(9) },
    "orders_by_time",
  ],
  [{ after: encodeCursor({ sortAt: at(1), id: "O1" }) }, "orders_by_time"],
  [{ status: "success" }, "orders_by_status"],
  [{ userId: "U1" }, "orders_by_user"],
  [{ commodity: "btc" }, "orders_by_commodity"],
  [{ trust: "claimed" }, "orders_open"],
  [{ open: true }, "orders_open"],
  [{ anomaly: true }, "orders_with_anomaly"],
  [{ anomaly: "contested" }, "orders_with_anomaly"],
  [{ attention: "refund_due" }, "orders_with_attention"],
  [{ attention: "stuck" }, "orders_open"],
  [{ release: "unchecked" }, "orders_by_release"],
  [{ releaseReason: "several_match" }, "orders_by_release"],
] as [OrderQuery, string][])(
  "a page of orders by %j reads an index in order",
  async (query, index) => {
    const driver = await emptyStore();
    const plan = await planOf(driver, orderSelection(query));
    assert.match(
      plan,
      new RegExp(`SEARCH orders USING INDEX ${index} \\(generation=`),
    );
    assert.doesNotMatch(plan, /TEMP B-TREE|SCAN orders/);
    await driver.close();
  },
);

Deno.test("Orders.page() of those that transitions tell of goes by these", async () => {
  const driver = await emptyStore();
  for (const attention of ["paid_twice", "yes_withheld"] as const) {
    assert.match(
      await planOf(driver, orderSelection({ attention })),
      /SEARCH orders USING INDEX \w+ \(generation=\? AND order_id=\?\)/,
    );
  }
  await driver.close();
});

Deno.test("Orders.page() by click id goes by the links", async () => {
  const driver = await emptyStore();
  const byId =
    /SEARCH orders USING INDEX \w+ \(generation=\? AND order_id=\?\)/;
  for (const more of [{}, { status: "success" }, { userId: "U1" }]) {
    const plan = await planOf(
      driver,
      orderSelection({ clickId: "C1", ...more }),
    );
    assert.match(
      plan,
      /SEARCH l USING PRIMARY KEY \(generation=\? AND kind=\? AND link=\?/,
    );
    assert.match(plan, byId);
  }
  await driver.close();
});

Deno.test.each([
  [{}, "users_by_time"],
  [{ status: "success" }, "users_by_status"],
] as [UserQuery, string][])(
  "a page of users by %j reads an index in order",
  async (query, index) => {
    const driver = await emptyStore();
    const plan = await planOf(driver, userSelection(query));
    assert.match(
      plan,
      new RegExp(`SEARCH users USING INDEX ${index} \\(generation=`),
    );
    assert.doesNotMatch(plan, /TEMP B-TREE|SCAN users/);
    await driver.close();
  },
);

async function planOf(
  driver: Driver,
  selection: Selection,
): Promise<string> {
  const { sql, args } = pageStatement(selection);
  const [plan] = await driver.batch(
    [{ sql: `EXPLAIN QUERY PLAN ${sql}`, args }],
    "read",
  );
  return plan?.rows.map((row) => row[3]).join("\n") ?? "";
}

Deno.test("Orders.page() refuses a wrong limit, time or cursor", async () => {
  const driver = await emptyStore();
  const orders = new Orders(driver);
  for (const limit of [0, 1001, 1.5, NaN]) {
    await assert.rejects(orders.page({ limit }), RangeError);
  }
  for (const createdAfter of ["soon", "2026-02-30", "2026-02-30T09:00:00Z"]) {
    await assert.rejects(orders.page({ createdAfter }), RangeError);
  }
  for (
    const after of [
      "",
      "%%%",
      "W10",
      "bnVsbA",
      encodeCursor({ sortAt: "soon", id: "O1" }),
    ]
  ) {
    await assert.rejects(orders.page({ after }), RangeError);
  }
  await driver.close();
});

Deno.test("decodeCursor() reads what encodeCursor() wrote", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: "grapheme" }), (sortAt, id) => {
      assert.deepEqual(decodeCursor(encodeCursor({ sortAt, id })), {
        sortAt,
        id,
      });
    }),
  );
});

Deno.test("queryTime() writes any time in one form", () => {
  assert.equal(
    queryTime("time", "2026-11-20T10:00:00+01:00"),
    "2026-11-20T09:00:00.000Z",
  );
  assert.equal(queryTime("time", "2026-11-20"), "2026-11-20T00:00:00.000Z");
});

Deno.test("Orders.list() and Users.list() sort what is dated 9999 by when it was read", async () => {
  const driver = await emptyStore();
  const user = (id: string, minute: number, created_at: string) =>
    userSnapshot({
      source: JSON.stringify({ user_id: id, created_at }),
      readAt: at(minute),
      recordedAt: at(minute),
      salt: new Uint8Array(16),
    });
  await driver.batch([appendStatement([
    orderRead(1, {
      orderId: "O1",
      status: "created",
      createdAt: "9999-12-31 23:59:59",
    }),
    orderRead(9, { orderId: "O2", status: "created", created: 8 }),
    user("U1", 1, "9999-12-31T23:59:59Z"),
    user("U2", 9, at(8)),
  ])], "write");
  await project(driver);
  const orders = await collect(new Orders(driver).list());
  assert.deepEqual(orders.map(({ orderId }) => orderId), ["O2", "O1"]);
  const users = await collect(new Users(driver).list());
  assert.deepEqual(users.map(({ userId }) => userId), ["U2", "U1"]);
  await driver.close();
});
