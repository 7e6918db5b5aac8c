import assert from "node:assert/strict";
import { inject } from "./service_test.ts";
import type { OddValue } from "../core/wire/objects.ts";

const sound = {
  order_id: "01ORDER",
  status: "success",
  click_id: "basket-1",
  currency_amount: 12.5,
  crypto_amount: 0.100000000000000001,
  tx_id: "0xabc",
};

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** A page of sixty orders of which one has `fields` in the place of its own. */
function pageWith(fields: string): string {
  const rows = Array.from(
    { length: 60 },
    (_, at) =>
      at === 30
        ? `{"order_id":"ODD","status":"success","click_id":"basket-1",${fields}}`
        : JSON.stringify({ ...sound, order_id: `O${at}` }),
  );
  return `{"success":true,"data":[${rows}],"total":60,"next_cursor_id":""}`;
}

const oddities: readonly (readonly [string, string, OddValue])[] = [
  ['"payment_type":true', "payment_type", "boolean"],
  ['"card_brand":["VISA"]', "card_brand", "array"],
  ['"crypto_amount":"N/A"', "crypto_amount", "text"],
  ['"crypto_amount":"1,5"', "crypto_amount", "text"],
  [`"crypto_amount":1${"0".repeat(200)}`, "crypto_amount", "text"],
  ['"status":null', "status", "null"],
  ['"status":""', "status", "empty"],
  ['"status":{}', "status", "object"],
  ['"tx_id":{"hash":"0xabc"}', "tx_id", "object"],
  ['"currency_amount":true', "currency_amount", "boolean"],
  ['"user_id":"01\\u0000USER"', "user_id", "nul"],
  [`"external_order_id":"${"x".repeat(257)}"`, "external_order_id", "too_long"],
  [`"user_id":"${"x".repeat(257)}"`, "user_id", "too_long"],
  [`"additional_data":${deep(5000)}`, "additional_data", "too_deep"],
  [`"never_heard_of":${deep(5000)}`, "never_heard_of", "too_deep"],
  [`"address":${deep(5000)}`, "address", "too_deep"],
];

for (const [fields, field, value] of oddities) {
  Deno.test(`orders.page() keeps all sixty orders when one has ${fields.slice(0, 40)}`, async () => {
    const { client } = inject(() => new Response(pageWith(fields)));
    const page = await client.orders.page();
    assert.equal(page.data.length, 60);
    assert.deepEqual(page.oddFields, [{ id: "ODD", field, value }]);
    assert.deepEqual(page.rowsWithoutId, []);
    const odd = page.data[30];
    assert.equal(odd?.click_id, "basket-1");
    assert.equal(odd?.[field as "address"] ?? null, null);
    assert.equal(odd?.status, field === "status" ? null : "success");
    // The exact text is there whole, for the ledger to keep.
    assert.ok(page.sources[30]?.includes(fields));
    assert.equal(page.sources.length, 60);
  });
}

Deno.test("orders.page() says that a status is missing", async () => {
  const { client } = inject(() => Response.json({ data: [{ order_id: "A" }] }));
  const page = await client.orders.page();
  assert.deepEqual(page.data, [{ order_id: "A", status: null }]);
  assert.deepEqual(page.oddFields, [
    { id: "A", field: "status", value: "missing" },
  ]);
});

Deno.test("orders.page() keeps NUL out of every text, and other escapes in", async () => {
  const { client } = inject(() =>
    Response.json({
      data: [{
        order_id: "A",
        status: "success",
        click_id: "a\0b",
        tx_id: "\ud800",
      }],
    })
  );
  const page = await client.orders.page();
  assert.deepEqual(page.data, [
    { order_id: "A", status: "success", tx_id: "\ud800" },
  ]);
});

Deno.test("orders.list() gives the other orders beside rows without a usable id, and is incomplete", async () => {
  const rows: unknown[] = Array.from(
    { length: 5 },
    (_, at) => ({ ...sound, order_id: `O${at}` }),
  );
  const odd = [
    null,
    [],
    "row",
    {},
    { order_id: "" },
    { order_id: null },
    { order_id: { id: "A" } },
    { order_id: "A\0" },
    { order_id: "\ud800" },
    { order_id: "x".repeat(257) },
  ];
  for (const row of odd) {
    const data = rows.toSpliced(2, 0, row);
    const { client } = inject(() =>
      Response.json({ data, total: 6, next_cursor_id: "" })
    );
    const walk = client.orders.list({
      start_date: "2026-01-01T00:00:00Z",
      end_date: "2026-01-02T00:00:00Z",
    }, { prove: true });
    const ids: string[] = [];
    for await (const order of walk) ids.push(order.order_id);
    assert.deepEqual(ids, ["O0", "O1", "O2", "O3", "O4"]);
    assert.ok(!walk.completeness.complete);
    assert.match(walk.completeness.why, /a row without a usable identifier/);
    assert.equal(walk.completeness.exhausted, false);
    const page = await client.orders.page();
    assert.deepEqual(page.rowsWithoutId, [JSON.stringify(row)]);
    assert.deepEqual(
      page.sources.map((source) => JSON.parse(source).order_id),
      ids,
    );
  }
});

Deno.test("orders.list() goes on after a page of nothing but rows without id", async () => {
  const { client } = inject((_request, count) =>
    Response.json(
      count === 1
        ? { data: [{}, {}], next_cursor_id: "C" }
        : { data: [sound], next_cursor_id: "" },
    )
  );
  const walk = client.orders.list();
  const ids: string[] = [];
  for await (const order of walk) ids.push(order.order_id);
  assert.deepEqual(ids, ["01ORDER"]);
});

Deno.test("users.page() keeps every sound part of a user", async () => {
  const { client } = inject(() =>
    Response.json({
      data: [
        {
          user_id: "U1",
          country: ["USA"],
          banned: "no",
          lkyc_status: "success",
          limits: { crypto_remaining: "N/A", crypto_spending: 1.5 },
          linked_payment_methods: [
            { method: "bank_card", cards: [null, { brand: 5, card_id: {} }] },
            "cash",
          ],
        },
        {},
        { user_id: "U2", limits: [] },
      ],
      total: 3,
    })
  );
  const page = await client.users.page();
  assert.deepEqual(page.data, [
    {
      user_id: "U1",
      lkyc_status: "success",
      limits: { crypto_spending: "1.5" },
      linked_payment_methods: [{
        method: "bank_card",
        cards: [{ brand: "5" }],
      }],
    },
    { user_id: "U2" },
  ]);
  assert.deepEqual(page.oddFields, [
    { id: "U1", field: "banned", value: "text" },
    { id: "U1", field: "country", value: "array" },
    { id: "U1", field: "limits.crypto_remaining", value: "text" },
    { id: "U1", field: "linked_payment_methods.0.cards.0", value: "null" },
    {
      id: "U1",
      field: "linked_payment_methods.0.cards.1.card_id",
      value: "object",
    },
    { id: "U1", field: "linked_payment_methods.1", value: "text" },
    { id: "U2", field: "limits", value: "array" },
  ]);
  assert.deepEqual(page.rowsWithoutId, ["{}"]);
});

Deno.test("get() takes a row without identifier for no proof that there is none", async () => {
  const { client } = inject(() => Response.json({ data: [{ status: "x" }] }));
  for (const get of [client.orders.get("A"), client.users.get("A")]) {
    await assert.rejects(get, { name: "ResponseError" });
  }
});

for (
  const envelope of [
    "",
    '"data":null',
    '"data":null,"total":0',
    '"total":0,"next_cursor_id":""',
  ]
) {
  Deno.test(`A page {${envelope}} is an empty one, and says what stood in the place of its data`, async () => {
    const { client } = inject(() => new Response(`{${envelope}}`));
    const found = envelope.includes("null") ? "null" : "missing";
    for (
      const page of [await client.orders.page(), await client.users.page()]
    ) {
      assert.deepEqual([page.data, page.sources], [[], []]);
      assert.equal(page.withoutData, found);
    }
    assert.equal(await client.orders.get("A"), null);
    assert.equal(await client.users.get("A"), null);
    const day = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"] as const;
    for (
      const walk of [
        client.orders.list({ start_date: day[0], end_date: day[1] }, {
          prove: true,
        }),
        client.users.list({ from: day[0], to: day[1] }, { prove: true }),
      ]
    ) {
      for await (const item of walk) assert.fail(JSON.stringify(item));
      assert.equal(walk.completeness.complete, true);
    }
  });
}

Deno.test("A page beyond the last user may have no data; one that should have rows is refused", async () => {
  const { client, requests } = inject((request) => {
    const offset = Number(new URL(request.url).searchParams.get("offset") ?? 0);
    return new Response(
      offset > 0
        ? '{"data":null,"total":1}'
        : '{"data":[{"user_id":"A"}],"total":1}',
    );
  });
  const walk = client.users.list();
  const ids = [];
  for await (const { user_id } of walk) ids.push(user_id);
  assert.deepEqual([ids, requests.length], [["A"], 2]);
  assert.equal(walk.completeness.exhausted, true);
  const full = inject(() => new Response('{"data":null,"total":1}'));
  await assert.rejects(full.client.users.page(), { code: "wrong_shape" });
  await assert.rejects(full.client.orders.page(), { code: "wrong_shape" });
});

Deno.test("A page with an array of rows says nothing about its data", async () => {
  const { client } = inject(() => Response.json({ data: [] }));
  assert.equal("withoutData" in await client.orders.page(), false);
});
