import assert from "node:assert/strict";
import fc from "fast-check";
import { createSandbox } from "./create_sandbox.ts";
import { virtualClock } from "./clock.ts";
import type { Sandbox, SandboxOptions, SandboxOrder } from "./sandbox.ts";

const START = Date.UTC(2026, 0, 1, 12);
const DAY = 86_400_000;

function setUp(options: SandboxOptions = {}): Sandbox {
  return createSandbox({ clock: virtualClock(START), ...options });
}

async function get(
  sandbox: Sandbox,
  path: string,
  key: string | null = sandbox.apiKey,
) {
  const response = await sandbox.fetch(
    new Request(`http://sandbox${path}`, {
      headers: key === null ? {} : { "X-API-KEY": key },
    }),
  );
  const text = await response.text();
  return { response, text, body: JSON.parse(text) };
}

const orders = (sandbox: Sandbox, query: Record<string, string>) =>
  get(sandbox, `/api/external/orders?${new URLSearchParams(query)}`);

const ids = (body: { data: { order_id: string }[] }) =>
  body.data.map((order) => order.order_id);

/** Follows the cursor to its end. */
async function walk(sandbox: Sandbox, query: Record<string, string>) {
  const seen: string[] = [];
  let cursor = "";
  for (let page = 0; page < 1_000; page++) {
    const { body } = await orders(sandbox, {
      ...query,
      ...(cursor && { cursor_id: cursor }),
    });
    seen.push(...ids(body));
    cursor = body.next_cursor_id;
    if (!cursor) return seen;
  }
  return assert.fail("The walk does not end");
}

/** Orders in small numbers of seconds, so that many share one. */
function crowd(
  sandbox: Sandbox,
  count: number,
  spanMs: number,
): SandboxOrder[] {
  sandbox.backfill({ orders: count, fromMs: START, untilMs: START + spanMs });
  return sandbox.orders();
}

Deno.test("ordersRoute() answers 401 to a missing or wrong key", async () => {
  const sandbox = setUp();
  for (const key of [null, "", "wrong", `${sandbox.apiKey} x`]) {
    const { response, body } = await get(sandbox, "/api/external/orders", key);
    assert.equal(response.status, 401);
    assert.equal(body.message, "unauthorized: API key is missing or invalid");
  }
  assert.equal((await orders(sandbox, {})).response.status, 200);
});

Deno.test("ordersRoute() returns every row once, for any limit and direction", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom("asc", "desc"),
      fc.constantFrom(1, 5_000, 600_000),
      async (count, limit, order_by, spanMs) => {
        const sandbox = setUp({ seed: count });
        const all = crowd(sandbox, count, spanMs).map((one) => one.orderId);
        if (order_by === "desc") all.reverse();
        const query = { limit: String(limit), order_by };
        assert.deepEqual(await walk(sandbox, query), all);
        const { body } = await orders(sandbox, query);
        assert.equal(body.total, count);
        assert.equal(body.success, true);
      },
    ),
    { numRuns: 40 },
  );
});

Deno.test("ordersRoute() returns every row once while rows are inserted and changed", async () => {
  for (const order_by of ["asc", "desc"]) {
    const sandbox = setUp({
      faults: { pageInsert: 1, pageChange: 1, pageShort: 0.3, sameSecond: 0.5 },
    });
    const before = crowd(sandbox, 60, 20_000).map((one) => one.orderId);
    const seen = await walk(sandbox, {
      limit: "7",
      order_by,
      end_date: "2026-01-01T12:00:20Z",
    });
    assert.equal(new Set(seen).size, seen.length, "a row came twice");
    for (const id of before) assert.ok(seen.includes(id), "a row was missed");
    assert.ok(sandbox.counters.pageInserts >= 9);
    assert.equal(sandbox.orders().length, 60 + sandbox.counters.pageInserts);
    assert.ok(sandbox.counters.pageChanges >= 9);
    assert.ok(sandbox.counters.pagesShort > 0);
    await sandbox.close();
  }
});

Deno.test("ordersRoute() takes start_date as exclusive and end_date as inclusive", async () => {
  const sandbox = setUp();
  const at = (ms: number) => sandbox.createOrder({}, START + ms).orderId;
  const [a, b, c] = [at(0), at(1_700), at(2_000)];
  const query = async (start_date: string, end_date: string) =>
    ids(
      (await orders(sandbox, { start_date, end_date, order_by: "asc" })).body,
    );
  const time = (second: number) => `2026-01-01T12:00:0${second}Z`;
  assert.deepEqual(await query(time(0), time(2)), [b, c]);
  assert.deepEqual(await query(time(0), time(1)), [b]);
  assert.deepEqual(await query("2026-01-01T11:59:59.999Z", time(0)), [a]);
  assert.deepEqual(await query(time(1), time(1)), []);
});

Deno.test("ordersRoute() finds by order, click and external id, many at once", async () => {
  const sandbox = setUp();
  const all = crowd(sandbox, 30, DAY);
  const [a, b, c] = all;
  assert.ok(a && b && c);
  sandbox.createOrder({ clickId: a.clickId }, START + 2 * DAY);
  const search = async (...search_by: string[]) =>
    ids(
      (await orders(sandbox, {
        search_by: search_by.join(","),
        order_by: "asc",
        limit: "20",
      })).body,
    );
  assert.deepEqual(await search(b.orderId), [b.orderId]);
  assert.deepEqual(await search(c.externalOrderId), [c.orderId]);
  assert.equal((await search(a.clickId)).length, 2);
  assert.deepEqual(
    await search(c.orderId, b.externalOrderId, b.orderId, "unknown"),
    [b.orderId, c.orderId],
  );
  assert.deepEqual(await search("unknown"), []);
  const start_date = new Date(Math.floor(a.createdAtMs / 1000) * 1000)
    .toISOString();
  const late = await orders(sandbox, {
    search_by: `${a.orderId},${b.orderId}`,
    start_date,
  });
  assert.deepEqual(ids(late.body), [b.orderId]);
});

Deno.test("ordersRoute() applies every filter exactly", async () => {
  const sandbox = setUp({ seed: 3 });
  const all = crowd(sandbox, 120, DAY);
  const filters: [string, (order: SandboxOrder) => string][] = [
    ["status", (order) => order.status],
    [
      "commodity",
      (order) =>
        `${order.commodity}.${order.cryptoType}.${order.network}`.toLowerCase(),
    ],
    ["user_ids", (order) => order.userId],
    ["card_id", (order) => order.cardId],
    ["tx_id", (order) => order.txId],
    ["fail_reason", (order) => order.failReason],
    ["payment_type", (order) => order.paymentType],
  ];
  for (const [name, valueOf] of filters) {
    const values = [...new Set(all.map(valueOf))].filter((one) => one !== "");
    for (const value of values.slice(0, 4)) {
      const expected = all.filter((order) => valueOf(order) === value)
        .map((order) => order.orderId);
      assert.deepEqual(
        await walk(sandbox, { [name]: value, order_by: "asc", limit: "20" }),
        expected,
        `${name}=${value}`,
      );
    }
  }
});

Deno.test("ordersRoute() takes offset and limit as documented, and refuses others", async () => {
  const sandbox = setUp();
  const all = crowd(sandbox, 25, DAY).map((one) => one.orderId).reverse();
  const data = async (query: Record<string, string>) =>
    ids((await orders(sandbox, query)).body);
  assert.deepEqual(await data({}), all.slice(0, 10));
  assert.deepEqual(await data({ limit: "20", offset: "20" }), all.slice(20));
  assert.deepEqual(await data({ limit: "0" }), []);
  assert.equal((await orders(sandbox, { limit: "0" })).body.next_cursor_id, "");
  for (
    const wrong of [
      { limit: "21" },
      { limit: "-1" },
      { limit: "ten" },
      { order_by: "up" },
      { start_date: "2026-01-01 00:00:00" },
      { end_date: "2026-13-01T00:00:00Z" },
      { offset: "1.5" },
    ]
  ) {
    const { response, body } = await orders(
      sandbox,
      wrong as unknown as Record<string, string>,
    );
    assert.equal(response.status, 400, JSON.stringify(wrong));
    assert.match(body.message, /^invalid request: /);
  }
});

Deno.test("ordersRoute() writes amounts with all their digits", async () => {
  const sandbox = setUp();
  const amounts = ["0.100000000000000001", "12345678901234567890.5", "7"];
  for (const cryptoAmount of amounts) {
    const { orderId } = sandbox.createOrder({
      cryptoAmount,
      currencyAmount: "12345678901234567.89",
    });
    const { text } = await orders(sandbox, { search_by: orderId });
    assert.ok(text.includes(`"crypto_amount":${cryptoAmount},`), text);
    assert.ok(text.includes(`"currency_amount":12345678901234567.89,`));
  }
});

Deno.test("ordersRoute() writes the documented fields in both forms", async () => {
  const sandbox = setUp();
  const { orderId } = sandbox.createOrder({
    cryptoType: "sc",
    scInputData: "0x01",
    processedThrough: "acquirer",
    fees: {
      partnerFee: "0.1",
      partnerFeePercent: "0.01",
      serviceFee: "0.4",
      serviceFeePercent: "0.04",
    },
  });
  const current = (await orders(sandbox, { search_by: orderId })).body;
  assert.equal(Object.keys(current.data[0]).length, 24);
  sandbox.orderForm = "earlier";
  const earlier = (await orders(sandbox, { search_by: orderId })).body;
  assert.ok(!("external_order_id" in earlier.data[0]));
  assert.ok(!("tx_id" in earlier.data[0]));
  assert.ok(!("next_cursor_id" in earlier));
});

Deno.test("fetch() dates every answer by the service's clock and its skew", async () => {
  const sandbox = setUp({ faults: { clockSkewMs: 600_000 } });
  const { response } = await orders(sandbox, {});
  assert.equal(
    response.headers.get("date"),
    new Date(START + 600_000).toUTCString(),
  );
  const { orderId } = sandbox.createOrder();
  const { body } = await orders(sandbox, { search_by: orderId });
  assert.equal(body.data[0].created_at, "2026-01-01 12:10:00");
});

Deno.test("statedTotal() changes only the total when totalWrong or totalMissing strikes", async () => {
  const sandbox = setUp();
  crowd(sandbox, 12, DAY);
  sandbox.setFaults({ totalWrong: 1 });
  const wrong = (await orders(sandbox, {})).body;
  assert.notEqual(wrong.total, 12);
  assert.equal(wrong.data.length, 10);
  sandbox.setFaults({ totalMissing: 1 });
  assert.ok(!("total" in (await orders(sandbox, {})).body));
  assert.equal(sandbox.counters.totalsWrong, 1);
  assert.equal(sandbox.counters.totalsMissing, 1);
});

Deno.test("usersRoute() applies every filter, window and page", async () => {
  const sandbox = setUp();
  for (let count = 0; count < 30; count++) {
    sandbox.createUser({
      lkyc: count % 2 ? "success" : "failed",
      fkyc: count % 3 ? "retry" : "not initiated",
    }, START + count * 1_500);
  }
  const all = sandbox.users();
  const users = async (query: Record<string, string>) =>
    (await get(
      sandbox,
      `/api/external/users?${new URLSearchParams({
        limit: "20",
        order_by: "asc",
        ...query,
      })}`,
    )).body;
  const same = async (
    query: Record<string, string>,
    keep: (user: typeof all[number]) => boolean,
  ) => {
    const body = await users(query);
    const expected = all.filter(keep).map((user) => user.userId);
    assert.equal(body.total, expected.length);
    assert.deepEqual(
      body.data.map((user: { user_id: string }) => user.user_id),
      expected.slice(0, 20),
    );
  };
  await same({}, () => true);
  await same({ lkyc_status: "failed" }, (user) => user.lkyc === "failed");
  await same({ fkyc_status: "retry" }, (user) => user.fkyc === "retry");
  await same({ phone_country: "de" }, (user) => user.phoneCountry === "DE");
  await same({ kyc_country: "FRA" }, (user) => user.country === "FRA");
  await same(
    { user_ids: `${all[3]?.userId},${all[9]?.userId}` },
    (user) => user === all[3] || user === all[9],
  );
  await same(
    { from: "2026-01-01T12:00:03Z", to: "2026-01-01T12:00:09Z" },
    (user) =>
      user.createdAtMs > START + 3_000 && user.createdAtMs <= START + 9_000,
  );
  const second = await users({ offset: "20" });
  assert.equal(second.data.length, 10);
  assert.ok(!("next_cursor_id" in second));
  assert.equal(
    (await get(sandbox, "/api/external/users?limit=21")).response.status,
    400,
  );
  assert.equal(
    (await get(sandbox, "/api/external/users", null)).response.status,
    401,
  );
});

Deno.test("usersRoute() writes a masked phone, limits and cards", async () => {
  const sandbox = setUp();
  const { userId } = sandbox.createUser({ phone: "+14155550123" });
  sandbox.advanceUser(userId, "card_added");
  const read = async () =>
    (await get(sandbox, `/api/external/users?user_ids=${userId}`)).body.data[0];
  const before = await read();
  assert.equal(before.phone, "+14*******23");
  assert.equal(before.limits.crypto_remaining, "0.00");
  assert.equal(before.linked_payment_methods[0].cards.length, 1);
  sandbox.advanceUser(userId, "verify_success");
  const { orderId } = sandbox.createOrder({
    userId,
    currencyAmount: "12.34",
    cryptoType: "simple",
  });
  sandbox.advance(orderId, "pay");
  sandbox.advance(orderId, "complete");
  const after = await read();
  assert.equal(after.lkyc_status, "success");
  assert.equal(after.limits.crypto_spending, "12.34");
  assert.equal(after.limits.crypto_remaining, "9987.66");
});

Deno.test("removeOrder() removes an order from every answer", async () => {
  const sandbox = setUp();
  const [gone, kept] = crowd(sandbox, 2, DAY);
  assert.ok(gone && kept);
  sandbox.removeOrder(gone.orderId);
  const search_by = [gone.orderId, gone.clickId, gone.externalOrderId].join();
  assert.deepEqual((await orders(sandbox, { search_by })).body.data, []);
  const { body } = await orders(sandbox, {});
  assert.deepEqual(ids(body), [kept.orderId]);
  assert.equal(body.total, 1);
  assert.throws(() => sandbox.removeOrder(gone.orderId), RangeError);
});

Deno.test("ordersRoute() continues from a cursor whose order was removed", async () => {
  const sandbox = setUp();
  const all = crowd(sandbox, 12, DAY).map((one) => one.orderId);
  const query = { order_by: "asc", limit: "5" };
  const { body } = await orders(sandbox, query);
  const cursor_id = body.next_cursor_id;
  sandbox.removeOrder(cursor_id);
  const rest = await orders(sandbox, { ...query, cursor_id });
  assert.deepEqual(ids(rest.body), all.slice(5, 10));
  const made_up = await orders(sandbox, { ...query, cursor_id: "made-up" });
  assert.equal(made_up.response.status, 400);
});

Deno.test("createOrder() repeats the second of the order before when sameSecond strikes", async () => {
  const clock = virtualClock(START);
  const sandbox = setUp({ clock, faults: { sameSecond: 1 } });
  const seconds = [];
  for (const waitMs of [0, 1_500, 1_000, 9_000]) {
    await clock.advance(waitMs);
    const { createdAtMs, orderId } = sandbox.createOrder();
    seconds.push((createdAtMs - START) / 1_000);
    assert.equal(sandbox.orders().at(-1)?.createdAtMs, createdAtMs, orderId);
  }
  // An order long after the one before is not dated back that far.
  assert.deepEqual(seconds, [0, 0, 0, 11.5]);
  assert.equal(sandbox.counters.sameSeconds, 2);
});
