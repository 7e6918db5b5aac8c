import assert from "node:assert/strict";
import { OnrampClient } from "./client.ts";
import { inject, local, serve, user } from "./service_test.ts";

const current = `{
  "order_id": "01HZX", "click_id": "c-1", "external_order_id": "A1B2C3",
  "currency": "usd", "currency_amount": 100.50, "crypto": "pol.simple.polygon",
  "crypto_amount": 123.456789012345678901, "user_id": "U", "status": "success",
  "card_id": "K", "created_at": "2026-01-01 10:00:00",
  "changed_at": "2026-01-01 10:05:00", "partner_fee": 1e-2,
  "partner_fee_percent": 0.01, "service_fee": 4, "service_fee_percent": 0.04,
  "tx_id": "0xabc", "processed_through": "acquirer", "card_brand": "VISA",
  "fail_reason": "", "payment_type": "3ds_v2", "additional_data": {"n": [0.10]},
  "address": "0x1", "sc_input_data": ""
}`;

const earlier = `{
  "order_id": "01HZY", "click_id": "c-2", "currency": "eur",
  "currency_amount": 5, "crypto": "btc.simple.bitcoin", "crypto_amount": 1e-8,
  "user_id": "U", "status": "brand_new_status", "card_id": null,
  "created_at": "2026-01-01 10:00:00", "changed_at": "2026-01-01 10:00:00",
  "partner_fee": null, "surprise": {"deep": 1.0}
}`;

const list = (...orders: string[]) =>
  `{"success": true, "data": [${
    orders.join(" , ")
  }], "next_cursor_id": "", "total": ${orders.length}}`;

Deno.test("orders.page() reads the current and the earlier form, exactly", async () => {
  await using service = serve(() =>
    new Response(list(current, earlier), { headers: { "x-request-id": "R-1" } })
  );
  const page = await service.client.orders.page({
    search_by: ["01HZX", "01HZY"],
  });
  assert.equal(service.requests[0]?.query.get("search_by"), "01HZX,01HZY");
  const [one, two] = page.data;
  assert.equal(one?.currency_amount, "100.50");
  assert.equal(one?.crypto_amount, "123.456789012345678901");
  assert.equal(one?.partner_fee, "0.01");
  assert.deepEqual(one?.additional_data, { n: ["0.10"] });
  assert.equal(two?.crypto_amount, "0.00000001");
  assert.equal(two?.status, "brand_new_status");
  assert.equal(two?.tx_id, undefined);
  assert.deepEqual(Reflect.get(two ?? {}, "surprise"), { deep: "1.0" });
  assert.deepEqual(page.sources, [current, earlier]);
  assert.equal(page.total, 2);
  assert.equal(page.nextCursorId, null);
  assert.equal(page.requestId, "R-1");
});

Deno.test("orders.page() takes the time from the Date header, else from the clock when asking", async () => {
  let now = Date.UTC(2026, 5, 1);
  const answer = (headers: HeadersInit) => () => {
    now += 1000;
    return new Response(list(), { headers });
  };
  const dated = inject(answer({ date: "Thu, 01 Jan 2026 00:00:05 GMT" }), {
    now: () => now,
  });
  assert.equal(
    (await dated.client.orders.page()).readAt,
    "2026-01-01T00:00:05.000Z",
  );
  const undated = inject(answer({}), { now: () => now });
  assert.equal(
    (await undated.client.orders.page()).readAt,
    "2026-06-01T00:00:01.000Z",
  );
});

Deno.test("users.page() reads limits as decimals and keeps what it does not know", async () => {
  const text = `{"success": true, "total": 1, "data": [{
    "user_id": "U", "country": "USA", "phone": "+1***67", "phone_country": "US",
    "lkyc_status": "success", "fkyc_status": "not initiated", "banned": false,
    "created_at": "2026-01-01T00:00:00.123456Z",
    "limits": {"crypto_remaining": "950.10", "crypto_spending": 49.90},
    "linked_payment_methods": [{"method": "bank_card", "cards": [
      {"brand": "VISA", "card_id": "K", "created_at": "2026-01-01T00:00:00Z", "last_digits": "4242"}
    ]}], "tier": 2}]}`;
  const { client } = inject(() => new Response(text));
  const [one] = (await client.users.page()).data;
  assert.deepEqual(one?.limits, {
    crypto_remaining: "950.10",
    crypto_spending: "49.90",
  });
  assert.equal(
    one?.linked_payment_methods?.[0]?.cards?.[0]?.last_digits,
    "4242",
  );
  assert.equal(Reflect.get(one ?? {}, "tier"), "2");
});

Deno.test("orders.get() finds by order, external and click id, and believes no other order", async () => {
  const { client, requests } = inject(() => new Response(list(current)));
  for (const id of ["01HZX", "A1B2C3", "c-1"]) {
    assert.equal((await client.orders.get(id))?.order_id, "01HZX");
  }
  assert.equal(
    new URL(requests[1]?.url ?? "").searchParams.get("search_by"),
    "A1B2C3",
  );
  await assert.rejects(client.orders.get("01OTHER"), {
    name: "ResponseError",
    code: "wrong_order",
  });
  const empty = inject(() => new Response(list()));
  assert.equal(await empty.client.orders.get("01HZX"), null);
});

Deno.test("orders.get() gives the order itself before others that share the text, and the latest of a click", async () => {
  const order = (id: string, more: object) =>
    JSON.stringify({ order_id: id, status: "created", ...more });
  const { client } = inject(() =>
    new Response(list(
      order("A", { click_id: "X", created_at: "2026-01-02 00:00:00" }),
      order("B", { click_id: "X", created_at: "2026-01-03 00:00:00" }),
      order("C", { click_id: "X" }),
      order("Y", { click_id: "A" }),
    ))
  );
  assert.equal((await client.orders.get("A"))?.order_id, "A");
  assert.equal((await client.orders.get("X"))?.order_id, "B");
});

Deno.test("get() refuses ids that would match several or all", async () => {
  const { client, requests } = inject(() => new Response(list()));
  for (const id of ["", "  ", "A,B"]) {
    await assert.rejects(client.orders.get(id), { name: "ValidationError" });
    await assert.rejects(client.users.get(id), { name: "ValidationError" });
  }
  assert.equal(requests.length, 0);
});

Deno.test("users.get() checks that the user is the one asked for", async () => {
  const { client } = inject(() =>
    Response.json({ success: true, data: [{ user_id: "U" }] })
  );
  assert.equal((await client.users.get("U"))?.user_id, "U");
  await assert.rejects(client.users.get("V"), {
    name: "ResponseError",
    code: "wrong_user",
  });
  const empty = inject(() => Response.json({ success: true, data: [] }));
  assert.equal(await empty.client.users.get("U"), null);
});

Deno.test("sessions.create() sends exact numbers and gives warnings back", async () => {
  const { client, requests } = inject(() =>
    Response.json({ sessionId: "S", requestId: "R" })
  );
  const session = await client.sessions.create({
    flow_type: "simple_full_restrict",
    commodity: "pol",
    network: "polygon",
    wallet_address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    currency: "USD",
    currency_amount: "100.10",
    commodity_amount: "5",
  });
  assert.equal(
    await requests[0]?.text(),
    '{"flow_type":"simple_full_restrict","commodity":"POL","network":"polygon",' +
      '"wallet_address":"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",' +
      '"currency":"USD","currency_amount":100.10,"commodity_amount":5}',
  );
  assert.equal(session.sessionId, "S");
  assert.equal(session.requestId, "R");
  assert.equal(session.warnings.length, 1);
});

Deno.test("sessions.create() refuses with every fault before anything is sent", async () => {
  const { client, requests } = inject(() => new Response("{}"));
  await assert.rejects(
    client.sessions.create({
      flow_type: "simple",
      commodity: "DOGE",
      network: "x",
      currency_amount: "0",
    }),
    (error: Error & { faults: { field: string }[] }) => {
      assert.equal(error.name, "ValidationError");
      assert.deepEqual(error.faults.map((fault) => fault.field), [
        "commodity",
        "currency_amount",
        "currency",
      ]);
      for (const { field } of error.faults) {
        assert.ok(error.message.includes(field));
      }
      return true;
    },
  );
  assert.equal(requests.length, 0);
});

Deno.test("sessions.create() lets smart contracts and unlisted assets through on request", async () => {
  const { client } = inject(() => Response.json({ sessionId: "S" }), {
    allowUnlistedAssets: true,
  });
  const session = await client.sessions.create(
    { flow_type: "simple_full_restrict", commodity: "NEW", network: "chain" },
    { smartContract: true },
  );
  assert.equal(session.requestId, null);
});

Deno.test("users.create() sends the input as it is", async () => {
  await using service = serve(() =>
    Response.json({ user_id: "U", created_at: "T", extra: 1 })
  );
  assert.deepEqual(await service.client.users.create(user), {
    user_id: "U",
    created_at: "T",
  });
  assert.deepEqual(JSON.parse(service.requests[0]?.body ?? ""), user);
  assert.equal(
    service.requests[0]?.headers.get("content-type"),
    "application/json",
  );
  assert.equal(service.requests[0]?.method, "POST");
});

Deno.test("OnrampClient() resolves presets and refuses invalid settings", () => {
  assert.equal(
    new OnrampClient({ environment: "production", apiKey: "k" }).environment
      .name,
    "production",
  );
  const environment = local("http://x.test");
  for (
    const option of [
      "requestsPerSecond",
      "maxInFlight",
      "timeoutMs",
      "deadlineMs",
      "retries",
    ]
  ) {
    for (const value of [-1, Number.NaN, "5"]) {
      assert.throws(
        () => new OnrampClient({ environment, apiKey: "k", [option]: value }),
        { name: "RangeError", message: new RegExp(option) },
      );
    }
  }
});

Deno.test("OnrampClient() says what is missing when numbers cannot be exact", () => {
  const holder = JSON as { rawJSON?: unknown };
  const rawJSON = holder.rawJSON;
  try {
    delete holder.rawJSON;
    assert.throws(
      () => new OnrampClient({ environment: "sandbox", apiKey: "k" }),
      { name: "TypeError", message: /Node 22/ },
    );
  } finally {
    holder.rawJSON = rawJSON;
  }
});

Deno.test("OnrampClient calls the default fetch without a receiver, as some runtimes require", async () => {
  const kept = globalThis.fetch;
  const receivers: unknown[] = [];
  try {
    globalThis.fetch = function (this: unknown) {
      receivers.push(this);
      return Promise.resolve(new Response(list()));
    };
    await new OnrampClient({ environment: local("http://x.test"), apiKey: "k" })
      .orders.page();
  } finally {
    globalThis.fetch = kept;
  }
  assert.deepEqual(receivers, [undefined]);
});

Deno.test("OnrampClient takes an address beside a named environment, and refuses an option that it does not know", async () => {
  const asked: string[] = [];
  const client = new OnrampClient({
    environment: "sandbox",
    baseUrl: "http://127.0.0.1:8788/",
    apiKey: "key",
    fetch: (input) => {
      asked.push(new URL(String(input)).origin);
      return Promise.resolve(
        Response.json({ sessionId: "S", requestId: "R" }),
      );
    },
  });
  await client.sessions.create({ currency: "USD", currency_amount: 50 });
  assert.deepEqual(asked, ["http://127.0.0.1:8788"]);
  assert.equal(client.environment.assets, "sandbox");
  const options = {
    environment: "sandbox",
    apiKey: "key",
    baseURL: "http://x",
  };
  assert.throws(
    () =>
      new OnrampClient(options as { environment: "sandbox"; apiKey: string }),
    /there is no option baseURL; did you mean baseUrl\?/,
  );
});

Deno.test("OnrampClient says what is wrong with the certificate of the service", async () => {
  for (
    const [error, said] of [
      [
        new TypeError(
          "error sending request: client error (Connect): invalid peer certificate: Expired",
        ),
        /its certificate has expired/,
      ],
      [
        new TypeError("fetch failed", {
          cause: new Error("self-signed certificate"),
        }),
        /its certificate is signed by nobody that this machine knows/,
      ],
      [new TypeError("fetch failed"), /connection to \S+ failed; try/],
    ] as const
  ) {
    const client = new OnrampClient({
      apiKey: "a-key-of-the-sandbox",
      environment: "sandbox",
      retries: 0,
      fetch: () => Promise.reject(error),
    });
    await assert.rejects(client.orders.page({ limit: 0 }), said);
  }
});
