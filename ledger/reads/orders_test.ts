import assert from "node:assert/strict";
import fc from "fast-check";
import { tries } from "../../tests/kit/thorough.ts";
import { userSnapshot } from "../testing/mint.ts";
import { OUTCOME_TABLE } from "../outcomes/outcome_table.ts";
import {
  at,
  orderRead,
  orderWebhook,
  session,
  transaction,
  worlds,
} from "../testing/projection_test_kit.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../open_ledger.ts";
import type { OrderQuery, OrderView } from "./orders.ts";
import { encodeCursor } from "./pages.ts";

type Events = Parameters<Ledger["append"]>[0];

async function ledgerWith(...events: Events): Promise<Ledger> {
  const ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    now: () => Date.parse(at(60)),
  });
  await ledger.append(events);
  await ledger.project();
  return ledger;
}

const idsOf = (orders: readonly OrderView[]) =>
  orders.map(({ orderId }) => orderId);

Deno.test("Orders.list() finds what a filter over all orders finds, in pages of any size", async () => {
  const queries: fc.Arbitrary<OrderQuery> = fc.record({
    status: fc.constantFrom("created", "success", "failed", "on hold"),
    trust: fc.constantFrom("claimed" as const, "confirmed" as const),
    userId: fc.constantFrom("U0", "U1"),
    clickId: fc.constantFrom("C0", "C1"),
    commodity: fc.constantFrom("btc", "BTC", "eth"),
    network: fc.constantFrom("Bitcoin", "ethereum"),
    currency: fc.constantFrom("usd", "USD", "EUR"),
    amountFrom: fc.constantFrom("0", "10", "10.5"),
    amountTo: fc.constantFrom("9.99", "10"),
    release: fc.constantFrom("yes" as const, "no", "wait", "unchecked"),
    releaseReason: fc.constantFrom(...OUTCOME_TABLE.map((row) => row.reason)),
    anomaly: fc.constantFrom(true as const, "regression", "amount_mismatch"),
    createdAfter: fc.integer({ min: -5, max: 90 }).map(at),
    createdUpTo: fc.integer({ min: -5, max: 90 }).map(at),
    sort: fc.constantFrom("newest" as const, "oldest" as const),
    limit: fc.integer({ min: 1, max: 4 }),
  }, { requiredKeys: [] });
  // Most queries of one or two fields find something.
  const few = queries.map((query) =>
    Object.fromEntries(
      Object.entries(query).filter((_, place) => place % 5 === 0),
    ) as OrderQuery
  );
  await fc.assert(
    fc.asyncProperty(
      worlds(60),
      fc.array(fc.oneof(queries, few), { minLength: 8, maxLength: 8 }),
      async (events, queries) => {
        await using ledger = await ledgerWith(...events);
        const { orders } = ledger;
        const ids = new Set(events.flatMap(({ orderId }) => orderId ?? []));
        const all: OrderView[] = [];
        for (const id of ids) {
          const order = await orders.get(id);
          if (order !== null) all.push(order);
        }
        const [times] = await ledger.driver.batch([
          { sql: "SELECT id, at FROM orders", args: [] },
        ], "read");
        const readMs = new Map(times?.rows.map(([id, at]) => [id, Number(at)]));
        const named = (clickId: string, isRead: boolean) =>
          new Set(
            events.filter((event) =>
              event.clickId === clickId &&
              (event.kind === "order_snapshot") === isRead
            ).map(({ orderId }) => orderId),
          );
        const ofClick = (clickId: string) => {
          const confirmed = named(clickId, true);
          return confirmed.size > 0 ? confirmed : named(clickId, false);
        };
        const timeMs = (order: OrderView): number =>
          isDatedAhead(order)
            // The time of the reading stands for the one that is stated.
            ? readMs.get(order.orderId) ?? 0
            : Date.parse(
              order.createdAt ?? order.activity.firstRecordedAt ?? "",
            );
        const firstOf = (id: string) =>
          events.findIndex(({ orderId }) => orderId === id);
        const amount = ({ currencyAmount }: OrderView) =>
          currencyAmount === null ? NaN : Number(currencyAmount);
        for (const query of queries) {
          const holds = (order: OrderView): boolean =>
            (query.status ?? order.status) === order.status &&
            (query.trust ?? order.trust) === order.trust &&
            (query.userId ?? order.userId) === order.userId &&
            (query.clickId === undefined ||
              ofClick(query.clickId).has(order.orderId)) &&
            isSame(query.commodity, order.commodity) &&
            isSame(query.network, order.network) &&
            isSame(query.currency, order.currency) &&
            (query.amountFrom === undefined ||
              amount(order) >= Number(query.amountFrom)) &&
            (query.amountTo === undefined ||
              amount(order) <= Number(query.amountTo)) &&
            (query.release ?? order.release) === order.release &&
            (query.releaseReason ?? order.releaseReason) ===
              order.releaseReason &&
            (query.anomaly === undefined ||
              order.anomalies.some(({ kind }) =>
                query.anomaly === true || kind === query.anomaly
              )) &&
            (query.createdAfter === undefined ||
              timeMs(order) > Date.parse(query.createdAfter)) &&
            (query.createdUpTo === undefined ||
              timeMs(order) <= Date.parse(query.createdUpTo));
          const sign = query.sort === "oldest" ? 1 : -1;
          const expected = all.filter(holds).sort((a, b) =>
            sign * (timeMs(a) - timeMs(b) ||
              firstOf(a.orderId) - firstOf(b.orderId))
          );
          const found = await Array.fromAsync(orders.list(query));
          assert.deepEqual(found, expected, JSON.stringify(query));
          const totals = await orders.totals(query);
          assert.equal(
            totals.reduce((sum, total) => sum + total.orders, 0),
            expected.length,
          );
        }
      },
    ),
    { numRuns: tries(30) },
  );
});

function isSame(wanted: string | undefined, value: string | null): boolean {
  return wanted === undefined ||
    wanted.toLowerCase() === value?.toLowerCase();
}

function isDatedAhead({ anomalies }: OrderView): boolean {
  return anomalies.some((one) =>
    one.kind === "time_in_future" && one.field === "createdAt"
  );
}

Deno.test("Orders.find() takes what the service has shown under a reference, and lists what only webhooks name beside it", async () => {
  await using ledger = await ledgerWith(
    orderRead(1, {
      ...{ orderId: "O1", status: "created", click: "C", external: "X1" },
      created: 1,
    }),
    orderWebhook("W1", 2, {
      ...{ type: "payment_started", orderId: "O2", click: "C", session: "S" },
      external: "O1",
    }),
    // Invented: an order whose id is somebody's click id, or external id.
    orderWebhook("W2", 3, { type: "order_complete", orderId: "C" }),
    orderWebhook("W3", 4, { type: "order_complete", orderId: "X1" }),
  );
  const { orders } = ledger;
  const ids = async (reference: string) => {
    const { confirmed, claimed } = await orders.find(reference);
    return [idsOf(confirmed), idsOf(claimed)];
  };
  assert.deepEqual(await ids("O1"), [["O1"], []]);
  assert.deepEqual(await ids("X1"), [["O1"], ["X1"]]);
  assert.deepEqual(await ids("x1"), [[], []], "the case counts");
  assert.deepEqual(await ids("C"), [["O1"], ["C", "O2"]]);
  assert.deepEqual(await ids("S"), [[], ["O2"]]);
  assert.deepEqual(await ids("O2"), [[], ["O2"]]);
  assert.deepEqual(await ids("nobody"), [[], []]);
  const listed = async (clickId: string) =>
    idsOf(await Array.fromAsync(orders.list({ clickId })));
  assert.deepEqual(await listed("C"), ["O1"]);
  // The service shows the other one as well: both are meant from then on.
  await ledger.append([
    orderRead(5, { orderId: "O2", status: "created", click: "C", created: 2 }),
  ]);
  await ledger.project();
  assert.deepEqual(await ids("C"), [["O1", "O2"], ["C"]]);
  assert.deepEqual(await listed("C"), ["O2", "O1"]);
  assert.equal(await orders.get("S"), null);
  assert.equal((await orders.get("O2"))?.activity.events, 2);
});

Deno.test("a reference means both orders of a basket that was paid twice, under one click id or two", async () => {
  const paid = (orderId: string, click: string, minute: number) =>
    orderRead(minute, {
      ...{ orderId, status: "success", click, created: 2 },
      tx: transaction(orderId),
    });
  await using ledger = await ledgerWith(
    session(0, "S1", "C1", "10", "basket-1"),
    session(1, "S2", "C2", "10", "basket-1"),
    paid("O1", "C1", 5),
    paid("O2", "C2", 6),
  );
  const { confirmed } = await ledger.orders.find("basket-1");
  assert.deepEqual(idsOf(confirmed), ["O1", "O2"]);
  const { found } = await ledger.find("basket-1");
  assert.equal(found.length, 2);
  const listed = await Array.fromAsync(
    ledger.orders.list({ reference: "BASKET-1" }),
  );
  assert.deepEqual(idsOf(listed), ["O2", "O1"]);
});

Deno.test("what a person settled has a release of its own in lists, sums, and what is read of several orders", async () => {
  await using ledger = await ledgerWith(
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(5, {
      ...{ orderId: "O1", status: "success", click: "C1", created: 2 },
      tx: transaction("O1"),
    }),
    orderRead(6, { orderId: "O2", status: "pending", created: 3 }),
  );
  await ledger.release("O1", {
    ...{ outcome: "refunded", by: "Ada", why: "rang us", confirmed: true },
  });
  const listed = async (query: OrderQuery) =>
    idsOf(await Array.fromAsync(ledger.orders.list(query)));
  assert.deepEqual(await listed({ release: "yes" }), []);
  assert.deepEqual(await listed({ release: "settled" }), ["O1"]);
  assert.deepEqual(await listed({ releaseReason: "refunded" }), ["O1"]);
  assert.deepEqual(await listed({ releaseReason: "session_matched" }), []);
  const [total] = await ledger.orders.totals({ release: "settled" });
  assert.equal(total?.orders, 1);
  const now = await ledger.orders.getMany(["O1", "O2", "O3"]);
  assert.deepEqual(
    [...now.values()].map((one) =>
      `${one.orderId} ${one.release} ${one.releaseReason}`
    ).sort(),
    ["O1 settled refunded", "O2 wait not_final"],
  );
});

Deno.test("Orders.find() does not read all that share an id, and list() does", async () => {
  await using ledger = await ledgerWith(
    ...Array.from({ length: 130 }, (_, n) =>
      orderRead(n, {
        ...{ orderId: `O${n}`, status: "created", click: "C", created: n },
      })),
  );
  const { confirmed: found } = await ledger.orders.find("C");
  assert.equal(found.length, 100);
  assert.equal(found.at(-1)?.orderId, "O99");
  const all = await Array.fromAsync(ledger.orders.list({ clickId: "C" }));
  assert.equal(all.length, 130);
});

Deno.test("Orders.list() lists the orders of a user of whom nothing else is known", async () => {
  await using ledger = await ledgerWith(
    orderRead(1, { orderId: "O1", status: "created", user: "U1" }),
  );
  const ofUser = async () =>
    idsOf(await Array.fromAsync(ledger.orders.list({ userId: "U1" })));
  assert.deepEqual(await ofUser(), ["O1"]);
  await ledger.append([
    orderWebhook("W1", 2, { type: "login", orderId: "O2", user: "U1" }),
  ]);
  await ledger.project();
  assert.ok((await ofUser()).includes("O1"));
});

Deno.test("Orders.page() refuses a wrong limit, time, sort or cursor", async () => {
  await using ledger = await ledgerWith();
  const { orders } = ledger;
  for (const limit of [0, 1001, 1.5, NaN]) {
    await assert.rejects(orders.page({ limit }), RangeError);
  }
  for (const createdAfter of ["soon", "2026-02-30", "2026-02-30T09:00:00Z"]) {
    await assert.rejects(orders.page({ createdAfter }), RangeError);
  }
  await assert.rejects(orders.page({ amountFrom: "1.0000001" }), RangeError);
  await assert.rejects(
    orders.page({ sort: "largest" as "newest" }),
    RangeError,
  );
  for (
    const after of [
      ...["", "%%%", "W10", "bnVsbA"],
      encodeCursor("soon", "1"),
      encodeCursor(at(1), "O1"),
    ]
  ) {
    await assert.rejects(orders.page({ after }), RangeError);
  }
});

Deno.test("Orders.list() and Users.list() sort what is dated 9999 by when it was read", async () => {
  const user = (id: string, minute: number, created_at: string) =>
    userSnapshot({
      source: JSON.stringify({ user_id: id, created_at }),
      readAt: at(minute),
      recordedAt: at(minute),
      salt: new Uint8Array(16),
    });
  await using ledger = await ledgerWith(
    orderRead(1, {
      ...{ orderId: "O1", status: "created" },
      createdAt: "9999-12-31 23:59:59",
    }),
    orderRead(9, { orderId: "O2", status: "created", created: 8 }),
    user("U1", 1, "9999-12-31T23:59:59Z"),
    user("U2", 9, at(8)),
  );
  const orders = await Array.fromAsync(ledger.orders.list());
  assert.deepEqual(idsOf(orders), ["O2", "O1"]);
  const users = await Array.fromAsync(ledger.users.list());
  assert.deepEqual(users.map(({ userId }) => userId), ["U2", "U1"]);
});

Deno.test("Users.list() filters and pages", async () => {
  await using ledger = await ledgerWith(
    ...["U1", "U2", "U3"].map((user, n) =>
      orderWebhook(`W${n}`, n, { type: "payment_started", orderId: "O1", user })
    ),
  );
  const ids = async (query: Parameters<typeof ledger.users.list>[0]) =>
    (await Array.fromAsync(ledger.users.list(query)))
      .map(({ userId }) => userId);
  assert.deepEqual(await ids({ limit: 1 }), ["U3", "U2", "U1"]);
  assert.deepEqual(await ids({ sort: "oldest", createdAfter: at(0) }), [
    ...["U2", "U3"],
  ]);
  assert.deepEqual(await ids({ status: "initiated", trust: "claimed" }), [
    ...["U3", "U2", "U1"],
  ]);
  assert.deepEqual(await ids({ status: "failed" }), []);
  assert.equal(await ledger.users.get("U9"), null);
});

Deno.test("Orders.list() gives exactly the orders of a release and a reason, in order, page by page", async () => {
  const paid = (orderId: string, click: string | null, created: number) =>
    orderRead(20, { orderId, status: "success", tx: "0xT", click, created });
  await using ledger = await ledgerWith(
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S2", "C2", "10", "basket-1"),
    session(0, "S3", "C3", "10", "basket-3"),
    session(0, "S4", "C3", "10", "basket-4"),
    paid("O1", "C1", 1),
    orderRead(20, { orderId: "O3", status: "pending", created: 3 }),
    paid("O5", null, 5),
    paid("O6", "C3", 6),
    orderRead(20, { orderId: "O7", status: "failed", created: 7 }),
    paid("O8", "C1", 8),
    orderRead(21, { orderId: "O8", status: "failed", changed: 21, created: 8 }),
    orderWebhook("W9", 9, { type: "order_complete", orderId: "O9" }),
    paid("OA", "C3", 10),
    orderRead(22, { orderId: "OB", status: "failed", created: 11 }),
    orderRead(23, { orderId: "OB", status: "pending", created: 11 }),
  );
  // Their basket is taken.
  await ledger.append([paid("O2", "C2", 2), paid("O4", "C2", 4)]);
  await ledger.project();
  const { orders } = ledger;
  const all = await Array.fromAsync(orders.list({ sort: "oldest" }));
  const said = (order: OrderView) => `${order.release} ${order.releaseReason}`;
  const pairs = new Set(all.map(said));
  for (
    const pair of [
      "yes session_matched",
      "wait paid_twice",
      "wait several_match",
      "wait not_shown",
      "unchecked nothing_recorded",
      "no final_changed",
      "wait final_changed",
    ]
  ) assert.ok(pairs.has(pair), `${pair}: ${[...pairs]}`);
  const releases = [undefined, "yes", "no", "wait", "unchecked"] as const;
  const reasons = [undefined, ...OUTCOME_TABLE.map(({ reason }) => reason)];
  for (const release of releases) {
    for (const releaseReason of new Set(reasons)) {
      for (const sort of ["oldest", "newest"] as const) {
        const query: OrderQuery = {
          ...{ sort, limit: 2, createdAfter: at(1) },
          ...(release && { release }),
          ...(releaseReason && { releaseReason }),
        };
        const wanted = all.filter((order) =>
          order.orderId !== "O1" &&
          (release === undefined || order.release === release) &&
          (releaseReason === undefined || order.releaseReason === releaseReason)
        ).map(({ orderId }) => orderId);
        const found = await Array.fromAsync(orders.list(query));
        assert.deepEqual(
          idsOf(found),
          sort === "oldest" ? wanted : wanted.toReversed(),
          JSON.stringify(query),
        );
      }
    }
  }
});
