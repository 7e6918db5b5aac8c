import assert from "node:assert/strict";
import {
  sessionEndpoint,
  type SessionEndpointOptions,
  type SessionRecord,
} from "./session_endpoint.ts";
import type { SessionFields } from "./ignored_options.ts";

interface User {
  id: string;
}

type Options = SessionEndpointOptions<User, SessionFields>;

/** An endpoint with everything noted. */
function shop(overrides: Partial<Options> = {}) {
  const created: SessionFields[] = [];
  const records: SessionRecord[] = [];
  const reported: unknown[] = [];
  const endpoint = sessionEndpoint<User, SessionFields>({
    authorise: ({ headers }) => headers.has("cookie") ? { id: "u-1" } : null,
    plan: ({ user, input }) => ({
      session: {
        flow_type: "simple_full_restrict",
        user_id: user.id,
        commodity: "TT",
        network: "amoy",
        currency: "USD",
        currency_amount: "25.50",
        wallet_address: "0x1",
      },
      reference: `basket ${JSON.stringify(input)}`,
    }),
    createSession: (session) => {
      created.push(session);
      return Promise.resolve({ sessionId: "s-1", requestId: "r-1" });
    },
    recordSession: (record) => {
      records.push(record);
      return Promise.resolve();
    },
    report: (error) => reported.push(error),
    ...overrides,
  });
  return { endpoint, created, records, reported };
}

function post(init: {
  body?: BodyInit | null;
  headers?: Record<string, string>;
  method?: string;
} = {}): Request {
  return new Request("https://shop.example/session", {
    method: init.method ?? "POST",
    headers: {
      "content-type": "application/json",
      origin: "https://shop.example",
      cookie: "login=1",
      ...init.headers,
    },
    ...(init.method === "GET"
      ? {}
      : { body: init.body ?? '{"input":{"b":1}}' }),
  });
}

Deno.test("sessionEndpoint() creates, records and hands out one session", async () => {
  const { endpoint, created, records } = shop();
  const response = await endpoint(post({ body: '{"input":{"b":1}}' }));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("cache-control"), "no-store");
  const { click_id, ...answer } = await response.json();
  assert.deepEqual(answer, { session_id: "s-1", valid_for_ms: 30_000 });
  assert.equal(created.length, 1);
  assert.deepEqual(records, [{
    session_id: "s-1",
    request_id: "r-1",
    click_id,
    reference: 'basket {"b":1}',
    flow_type: "simple_full_restrict",
    user_id: "u-1",
    commodity: "TT",
    network: "amoy",
    currency: "USD",
    currency_amount: "25.50",
    wallet_address: "0x1",
  }]);
});

Deno.test("sessionEndpoint() makes a click id for each session", async () => {
  const { endpoint, records } = shop();
  const first = await (await endpoint(post({ body: "{}" }))).json();
  const second = await (await endpoint(post({ body: "{}" }))).json();
  assert.match(first.click_id, /^[0-9a-f-]{36}$/);
  assert.notEqual(first.click_id, second.click_id);
  assert.equal(records[0]?.click_id, first.click_id);
});

const refusals: [string, Request, number, string][] = [
  ["GET", post({ method: "GET" }), 405, "method_not_allowed"],
  ["PUT", post({ method: "PUT" }), 405, "method_not_allowed"],
  [
    "another origin",
    post({ headers: { origin: "https://evil.example" } }),
    403,
    "wrong_origin",
  ],
  [
    "a sandboxed frame",
    post({ headers: { origin: "null" } }),
    403,
    "wrong_origin",
  ],
  [
    "a form",
    post({ headers: { "content-type": "text/plain" } }),
    415,
    "not_json",
  ],
  [
    "nearly JSON",
    post({ headers: { "content-type": "application/jsonp" } }),
    415,
    "not_json",
  ],
  ["no JSON", post({ body: "{" }), 400, "bad_body"],
  ["no object", post({ body: "null" }), 400, "bad_body"],
  ["a large body", post({ body: `"${"x".repeat(16_384)}"` }), 413, "too_large"],
];

for (const [what, request, status, error] of refusals) {
  Deno.test(`sessionEndpoint() answers ${status} to ${what}, and creates nothing`, async () => {
    const { endpoint, created, reported } = shop();
    const response = await endpoint(request);
    assert.equal(response.status, status);
    assert.deepEqual(await response.json(), { error });
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.deepEqual(created, []);
    assert.equal(reported.length, error === "wrong_origin" ? 1 : 0);
  });
}

Deno.test("sessionEndpoint() takes its own page's requests behind a proxy that ends TLS and keeps the host", async () => {
  const own = [
    ["http://shop.example/session", "https://shop.example"],
    ["http://shop.example:443/session", "https://shop.example"],
    ["http://localhost:3000/session", "http://localhost:3000"],
  ] as const;
  const others = [
    ["http://shop.example/session", "https://shop.example.evil.example"],
    ["http://shop.example:3000/session", "https://shop.example"],
    ["http://shop.example/session", "https://shop.example:444"],
    ["http://shop.example/session", "ftp://shop.example"],
  ] as const;
  for (const [url, origin] of [...own, ...others]) {
    const { endpoint } = shop();
    const { status } = await endpoint(
      new Request(url, post({ headers: { origin } })),
    );
    const isOwn = own.some((pair) => pair[0] === url && pair[1] === origin);
    assert.equal(status, isOwn ? 200 : 403, `${origin} at ${url}`);
  }
});

Deno.test("sessionEndpoint() has its own origin from publicUrl, where a proxy hides the public name", async () => {
  const { endpoint } = shop({ publicUrl: "https://www.shop.example/buy" });
  const ask = async (origin: string) => {
    const request = post({ headers: { origin } });
    return (await endpoint(new Request("http://10.0.0.7/session", request)))
      .status;
  };
  assert.equal(await ask("https://www.shop.example"), 200);
  assert.equal(await ask("http://www.shop.example"), 403);
  assert.equal(await ask("http://10.0.0.7"), 403);
  assert.throws(() => shop({ publicUrl: "shop" }), /publicUrl is "shop"/);
});

Deno.test("sessionEndpoint() answers the preflight of a listed origin, and lets it read every answer", async () => {
  const origin = "https://www.shop.example";
  const { endpoint } = shop({ allowedOrigins: [origin] });
  const preflight = (from: string) =>
    endpoint(
      new Request("https://pay.shop.example/session", {
        method: "OPTIONS",
        headers: {
          origin: from,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      }),
    );
  const allowed = await preflight(origin);
  assert.equal(allowed.status, 204);
  assert.equal(allowed.headers.get("access-control-allow-methods"), "POST");
  assert.match(
    allowed.headers.get("access-control-allow-headers") ?? "",
    /content-type/,
  );
  const asked = [
    post({ headers: { origin } }),
    post({ headers: { origin }, body: "{" }),
  ];
  const answers = [allowed];
  for (const request of asked) answers.push(await endpoint(request));
  assert.deepEqual(answers.map(({ status }) => status), [204, 200, 400]);
  for (const { headers } of answers) {
    assert.equal(headers.get("access-control-allow-origin"), origin);
    assert.equal(headers.get("access-control-allow-credentials"), "true");
    assert.match(headers.get("vary") ?? "", /origin/i);
  }
  const stranger = await preflight("https://evil.example");
  assert.equal(stranger.status, 403);
  assert.equal(stranger.headers.get("access-control-allow-origin"), null);
});

Deno.test("sessionEndpoint() reports why it refuses an origin once, and no more than twenty of them", async () => {
  const { endpoint, reported } = shop();
  const ask = (origin: string) => endpoint(post({ headers: { origin } }));
  await ask("https://pay.shop.example");
  await ask("https://pay.shop.example");
  const [error] = reported;
  assert.equal(reported.length, 1);
  assert.ok(error instanceof Error);
  assert.match(
    error.message,
    /"https:\/\/pay\.shop\.example".*"https:\/\/shop\.example".*allowedOrigins/,
  );
  for (let i = 0; i < 50; i++) await ask(`https://${i}.example`);
  assert.equal(reported.length, 20);
});

Deno.test("sessionEndpoint() refuses a click id of the page's own, and says so", async () => {
  for (const id of ["c-1", "", null]) {
    const { endpoint, created, records } = shop();
    const body = JSON.stringify({ click_id: id, input: { b: 1 } });
    const response = await endpoint(post({ body }));
    assert.equal(response.status, 400);
    assert.deepEqual(await response.json(), { error: "send_no_click_id" });
    assert.deepEqual([created, records], [[], []]);
  }
});

Deno.test("sessionEndpoint() records what the plan expects apart from the session", async () => {
  const { endpoint, records } = shop({
    plan: () => ({
      session: { flow_type: "simple_full_restrict", commodity: "POL" },
      reference: "mint-7",
      expected: { currency: "USD", currency_amount: 900 },
      validForMs: 3_600_000,
    }),
  });
  await (await endpoint(post())).body?.cancel();
  const [{ expected, valid_for_ms, currency } = {} as SessionRecord] = records;
  assert.deepEqual(expected, { currency: "USD", currency_amount: "900" });
  assert.deepEqual([valid_for_ms, currency], [3_600_000, undefined]);
});

Deno.test("sessionEndpoint() is not made without what records sessions", () => {
  assert.throws(
    () => shop({ recordSession: undefined as never }),
    /recordSession is missing/,
  );
});

Deno.test("sessionEndpoint() answers 403 where no origin is stated", async () => {
  const { endpoint } = shop();
  const request = post();
  request.headers.delete("origin");
  assert.equal((await endpoint(request)).status, 403);
});

Deno.test("sessionEndpoint() trusts the origins it is told, and then only those", async () => {
  const allowedOrigins = ["https://www.shop.example"];
  const { endpoint } = shop({ allowedOrigins });
  const headers = { origin: "https://www.shop.example" };
  assert.equal((await endpoint(post({ headers }))).status, 200);
  assert.equal((await endpoint(post())).status, 403);
});

Deno.test("sessionEndpoint() answers 401 to nobody, before it reads or plans", async () => {
  let planned = 0;
  const { endpoint } = shop({
    authorise: () => null,
    plan: () => {
      planned++;
      return null;
    },
  });
  assert.equal((await endpoint(post({ body: "{" }))).status, 401);
  assert.equal(planned, 0);
});

Deno.test("sessionEndpoint() answers 422 where the plan refuses", async () => {
  const { endpoint, created } = shop({ plan: () => null });
  const response = await endpoint(post());
  assert.equal(response.status, 422);
  assert.deepEqual(await response.json(), { error: "refused" });
  assert.deepEqual(created, []);
});

Deno.test("sessionEndpoint() says nothing of what went wrong behind it, and reports it", async () => {
  const secret = new Error("key sk-SECRET was refused");
  const retryable = Object.assign(new Error("SECRET"), { retryable: true });
  const failures: [Partial<Options>, number][] = [
    [{ createSession: () => Promise.reject(secret) }, 502],
    [{ createSession: () => Promise.reject(retryable) }, 503],
    [{ createSession: () => Promise.reject(null) }, 502],
    [{ recordSession: () => Promise.reject(secret) }, 502],
    [{ authorise: () => Promise.reject(secret) }, 502],
    [{
      plan: () => {
        throw secret;
      },
    }, 502],
  ];
  for (const [overrides, status] of failures) {
    const { endpoint, reported } = shop(overrides);
    const response = await endpoint(post());
    assert.equal(response.status, status);
    const text = await response.text();
    assert.doesNotMatch(text, /SECRET|s-1/);
    assert.equal(response.headers.has("retry-after"), status === 503);
    assert.equal(reported.length, 1);
  }
});

Deno.test("sessionEndpoint() hands out no session that was not remembered", async () => {
  let isRecorded = false;
  const { endpoint } = shop({
    recordSession: async () => {
      await Promise.resolve();
      isRecorded = true;
    },
  });
  await (await endpoint(post())).body?.cancel();
  assert.ok(isRecorded);
});

Deno.test("sessionEndpoint() records only what the session was asked for", async () => {
  const { endpoint, records } = shop({
    plan: () => ({ session: { currency: "USD", currency_amount: 30 } }),
    createSession: () => Promise.resolve({ sessionId: "s-2", requestId: null }),
  });
  const { click_id } = await (await endpoint(post())).json();
  assert.deepEqual(records, [
    {
      session_id: "s-2",
      click_id,
      flow_type: "simple",
      currency: "USD",
      currency_amount: "30",
    },
  ]);
});
