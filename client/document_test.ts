// Rows of the service's document that other tests of this folder do not hold
// one by one: its errors, parameters and assets have tests of their own.
import assert from "node:assert/strict";
import type { Operation } from "./call_options.ts";
import type { OrdersQuery, UsersQuery } from "../core/wire/objects.ts";
import { SESSION_FIELDS } from "../core/rules/session_rules.ts";
import { USER_FIELDS } from "../core/rules/request_rules.ts";
import { answers, apiKey, calls, card, inject, user } from "./service_test.ts";

/** "Endpoints": name, method, path, and whether it is on the host of cards. */
const ENDPOINTS: readonly (readonly [Operation, string, string, boolean])[] = [
  ["sessions.create", "POST", "/api/external/hpp/create-session", false],
  ["orders.page", "GET", "/api/external/orders", false],
  ["users.page", "GET", "/api/external/users", false],
  ["users.create", "POST", "/api/external/users/create", false],
  ["cards.register", "POST", "/api/v1/partner/register", true],
];

for (const [operation, method, path, isOfCards] of ENDPOINTS) {
  Deno.test(`${operation}() sends ${method} ${path} with the key, as JSON`, async () => {
    const { client, requests } = inject(() => new Response(answers[operation]));
    await calls[operation](client);
    const [request] = requests;
    const base = isOfCards
      ? client.environment.cardsBaseUrl
      : client.environment.baseUrl;
    assert.equal(request?.method, method);
    assert.equal(request?.url.split("?")[0], base + path);
    assert.equal(request?.headers.get("X-Api-Key"), apiKey);
    assert.match(request?.headers.get("accept") ?? "", /json/);
    const sent = request?.headers.get("content-type");
    assert.equal(sent, method === "POST" ? "application/json" : null);
  });
}

/** "Order (Data API)": field, as JSON, as read, and its filter. */
const ORDER: readonly (readonly [
  field: string,
  json: string,
  read: unknown,
  filter?: keyof OrdersQuery,
])[] = [
  ["order_id", '"01HZX"', "01HZX", "search_by"],
  ["click_id", '"basket-1"', "basket-1", "search_by"],
  ["external_order_id", '"A1B2C3"', "A1B2C3", "search_by"],
  ["currency", '"usd"', "usd"],
  ["currency_amount", "100.50", "100.50"],
  ["crypto", '"pol.simple.polygon"', "pol.simple.polygon", "commodity"],
  ["crypto_amount", "0.100000000000000001", "0.100000000000000001"],
  ["user_id", '"01HZU"', "01HZU", "user_ids"],
  ["status", '"success"', "success", "status"],
  ["card_id", '"01HZC"', "01HZC", "card_id"],
  ["created_at", '"2026-01-01 10:00:00"', "2026-01-01 10:00:00"],
  ["changed_at", '"2026-01-01 10:05:00"', "2026-01-01 10:05:00"],
  ["partner_fee", "1.10", "1.10"],
  ["partner_fee_percent", "0.01", "0.01"],
  ["service_fee", "4", "4"],
  ["service_fee_percent", "0.04", "0.04"],
  ["tx_id", '"0xabc"', "0xabc", "tx_id"],
  ["processed_through", '"acquirer"', "acquirer"],
  ["card_brand", '"VISA"', "VISA"],
  ["fail_reason", '"4004"', "4004", "fail_reason"],
  ["payment_type", '"3ds_v2"', "3ds_v2", "payment_type"],
  ["additional_data", '{"a":1.0}', { a: "1.0" }],
  ["address", '"0x1"', "0x1"],
  ["sc_input_data", '"0x"', "0x"],
];

/** "User (Data API)", in the same way. */
const USER: readonly (readonly [
  field: string,
  json: string,
  read: unknown,
  filter?: keyof UsersQuery,
])[] = [
  ["user_id", '"01HZU"', "01HZU", "user_ids"],
  ["country", '"USA"', "USA", "kyc_country"],
  ["phone", '"+1***67"', "+1***67"],
  ["phone_country", '"US"', "US", "phone_country"],
  ["lkyc_status", '"success"', "success", "lkyc_status"],
  ["fkyc_status", '"not initiated"', "not initiated", "fkyc_status"],
  ["banned", "false", false],
  ["created_at", '"2026-01-01T00:00:00.123Z"', "2026-01-01T00:00:00.123Z"],
  ...["crypto", "digital_goods"].flatMap((kind) =>
    ["remaining", "spending"].map((side) =>
      [
        "limits",
        `{"${kind}_${side}":"950.10"}`,
        { [`${kind}_${side}`]: "950.10" },
      ] as const
    )
  ),
  ["linked_payment_methods", "[]", []],
  ["linked_payment_methods", '[{"method":"bank_card"}]', [{
    method: "bank_card",
  }]],
  ...["brand", "card_id", "created_at", "last_digits"].map((field) =>
    [
      "linked_payment_methods",
      `[{"cards":[{"${field}":"x"}]}]`,
      [{ cards: [{ [field]: "x" }] }],
    ] as const
  ),
];

for (const [list, rows] of [["orders", ORDER], ["users", USER]] as const) {
  for (const [field, json, read, filter] of rows) {
    Deno.test(`${list}.page() reads ${field} ${json}${filter ? `, and filters by ${filter}` : ""}`, async () => {
      const id = list === "orders" ? "order_id" : "user_id";
      const own = field === id ? "" : `"${id}":"A",`;
      const { client, requests } = inject(() =>
        new Response(
          `{"success":true,"total":1,"data":[{${own}"${field}":${json}}]}`,
        )
      );
      const query = filter === undefined ? {} : { [filter]: String(read) };
      const page = await client[list].page(query);
      assert.deepEqual(Reflect.get(page.data[0] ?? {}, field), read);
      assert.deepEqual(
        page.oddFields.filter(({ field }) => field !== "status"),
        [],
      );
      if (filter === undefined) return;
      const { searchParams } = new URL(requests[0]?.url ?? "");
      assert.deepEqual([...searchParams], [[filter, String(read)]]);
    });
  }
}

Deno.test("page() reads the fields of a list", async () => {
  const text = '{"success":true,"data":[],"next_cursor_id":"C","total":7}';
  const { client } = inject(() => new Response(text));
  const { data, nextCursorId, total } = await client.orders.page();
  assert.deepEqual([data, nextCursorId, total], [[], "C", 7]);
  assert.equal((await client.users.page()).total, 7);
});

const STATUSES = "created progress pending success failed cancelled".split(" ");
const STATES = "initiated progress retry success failed".split(" ");

Deno.test("page() keeps every status of an order and every state of a verification", async () => {
  const { client } = inject(({ url }) =>
    Response.json({
      data: url.includes("orders")
        ? STATUSES.map((status) => ({ order_id: status, status }))
        : STATES.map((lkyc_status) => ({ user_id: lkyc_status, lkyc_status })),
    })
  );
  const orders = await client.orders.page();
  assert.deepEqual(orders.data.map(({ status }) => status), STATUSES);
  const users = await client.users.page();
  assert.deepEqual(users.data.map(({ lkyc_status }) => lkyc_status), STATES);
});

Deno.test("create() and register() send every field of their tables as it is", async () => {
  const session = {
    flow_type: "simple_full_restrict",
    user_id: "01HZU",
    commodity: "POL",
    commodity_amount: "5.10",
    network: "polygon",
    wallet_address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    currency: "EUR",
    currency_amount: "30.50",
  } as const;
  const whole = { ...user, middle_name: "Bea" };
  assert.deepEqual(Object.keys(session).sort(), [...SESSION_FIELDS].sort());
  assert.deepEqual(Object.keys(whole).sort(), [...USER_FIELDS].sort());
  const { client, requests } = inject(() =>
    new Response(
      '{"sessionId":"S","user_id":"U","created_at":"","card_id":"C"}',
    )
  );
  await client.sessions.create(session);
  await client.users.create(whole);
  await client.cards.register(card);
  const [first, ...others] = await Promise.all(
    requests.map((request) => request.text()),
  );
  const amounts = '"commodity_amount":5.10,"currency_amount":30.50';
  for (const amount of amounts.split(",")) assert.ok(first?.includes(amount));
  assert.deepEqual(JSON.parse(first ?? ""), {
    ...session,
    commodity_amount: 5.1,
    currency_amount: 30.5,
  });
  assert.deepEqual(others.map((text) => JSON.parse(text)), [whole, card]);
});
