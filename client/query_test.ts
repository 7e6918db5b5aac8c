import assert from "node:assert/strict";
import type { OrdersQuery, UsersQuery } from "../core/wire/objects.ts";
import { ORDERS, USERS } from "./lists.ts";
import { checkQuery } from "./query.ts";

const checkOrdersQuery = (query: OrdersQuery) => checkQuery(query, ORDERS);
const checkUsersQuery = (query: UsersQuery) => checkQuery(query, USERS);

const ordersQuery: OrdersQuery = {
  limit: 20,
  cursor_id: "01HZX",
  offset: 40,
  search_by: ["A", "B"],
  order_by: "asc",
  start_date: "2026-01-01T00:00:00Z",
  end_date: new Date(Date.UTC(2026, 0, 2)),
  status: "success",
  commodity: "pol.simple.polygon",
  user_ids: "U1,U2",
  card_id: "C",
  tx_id: "0x1",
  fail_reason: "4004",
  payment_type: "3ds_v2",
};

Deno.test("checkOrdersQuery() sends every parameter of the table", () => {
  const { faults, parameters } = checkOrdersQuery(ordersQuery);
  assert.deepEqual(faults, []);
  assert.deepEqual(Object.fromEntries(parameters), {
    limit: "20",
    cursor_id: "01HZX",
    offset: "40",
    search_by: "A,B",
    order_by: "asc",
    start_date: "2026-01-01T00:00:00Z",
    end_date: "2026-01-02T00:00:00Z",
    status: "success",
    commodity: "pol.simple.polygon",
    user_ids: "U1,U2",
    card_id: "C",
    tx_id: "0x1",
    fail_reason: "4004",
    payment_type: "3ds_v2",
  });
});

const wrongOrders: Readonly<Record<string, readonly unknown[]>> = {
  limit: [-1, 21, 1.5, "20", Number.NaN],
  cursor_id: [5, " "],
  offset: [-1, 0.5, "0"],
  search_by: ["", [], "A,,B", ["A,B"], [""], 5],
  order_by: ["ASC", "up"],
  start_date: [
    "2026-01-01",
    "2026-01-01 00:00:00",
    "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00+01:00",
    new Date(Number.NaN),
    0,
  ],
  end_date: ["2026-01-01T00:00:00", "2026-13-01T00:00:00Z"],
  status: ["", 5],
  commodity: ["POL", "pol.polygon", "a.b.c.d"],
  user_ids: ["", [], [" "]],
  card_id: [""],
  tx_id: [""],
  fail_reason: [4004],
  payment_type: [""],
};

for (const [name, values] of Object.entries(wrongOrders)) {
  Deno.test(`checkOrdersQuery() refuses a wrong ${name}, by its name`, () => {
    for (const value of values) {
      const { faults } = checkOrdersQuery({ [name]: value } as OrdersQuery);
      assert.deepEqual(faults.map((f) => f.field), [name], String(value));
    }
  });
}

Deno.test("checkOrdersQuery() takes limits 0 and 20, an empty cursor and fractions of a second", () => {
  for (
    const query of [
      { limit: 0 },
      { limit: 20 },
      { start_date: "2026-01-01T00:00:00.123456Z" },
      { status: "brand_new" },
    ]
  ) assert.deepEqual(checkOrdersQuery(query).faults, []);
  assert.deepEqual(checkOrdersQuery({ cursor_id: "" }).parameters, []);
});

Deno.test("checkOrdersQuery() refuses a window in which nothing can lie", () => {
  const same = "2026-01-01T00:00:00Z";
  for (const end of [same, "2025-12-31T23:59:59Z"]) {
    assert.deepEqual(
      checkOrdersQuery({ start_date: same, end_date: end }).faults
        .map((fault) => fault.field),
      ["end_date"],
    );
  }
});

Deno.test("checkOrdersQuery() says what a mistyped parameter should be", () => {
  const { faults } = checkOrdersQuery(
    { order_id: "A", user_id: "U", from: "x", nonsense: 1 } as OrdersQuery,
  );
  assert.deepEqual(
    faults.map(({ field, rule }) => [field, /use (\S+)/.exec(rule)?.[1]]),
    [
      ["order_id", "search_by"],
      ["user_id", "user_ids"],
      ["from", "start_date"],
      ["nonsense", "one"],
    ],
  );
});

Deno.test("checkUsersQuery() sends every parameter of the table", () => {
  const query: UsersQuery = {
    limit: 0,
    offset: 5,
    order_by: "desc",
    from: "2026-01-01T00:00:00Z",
    to: "2026-01-02T00:00:00Z",
    user_ids: ["U1"],
    lkyc_status: "success",
    fkyc_status: "not initiated",
    phone_country: "US",
    kyc_country: "USA",
  };
  const { faults, parameters } = checkUsersQuery(query);
  assert.deepEqual(faults, []);
  assert.deepEqual(
    Object.fromEntries(parameters),
    { ...query, limit: "0", offset: "5", user_ids: "U1" },
  );
});

Deno.test("checkUsersQuery() refuses what the table does not know", () => {
  const { faults } = checkUsersQuery(
    {
      limit: 21,
      phone_country: "USA",
      kyc_country: "US",
      start_date: "x",
    } as UsersQuery,
  );
  assert.deepEqual(faults.map((fault) => fault.field), [
    "start_date",
    "limit",
    "phone_country",
    "kyc_country",
  ]);
});
