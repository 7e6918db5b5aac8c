import assert from "node:assert/strict";
import { resolveEnvironment } from "../../client/mod.ts";
import { parseWithExactNumbers } from "../../core/json/json.ts";
import { createSandbox, virtualClock } from "../../sandbox/mod.ts";
import { conform, CONFORMANCE_ROWS } from "../../sync/check/conform.ts";
import { fieldName, timeForm, word } from "../../sync/check/drift.ts";
import { askByClient } from "../commands/conform.ts";

/** Answers a request. */
type Answerer = (request: Request) => Promise<Response>;

/** Looks at a sandbox with a past: orders of every status, users with cards. */
async function look(through: (answer: Answerer) => Answerer = (same) => same) {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  await using sandbox = createSandbox({ seed: 7, clock });
  const visits = sandbox.populate({ orders: 60, openShare: 0.2 });
  await clock.advance(6 * 3_600_000);
  await visits;
  const requests: Request[] = [];
  const answer = through((request) => sandbox.fetch(request));
  let askedMs = 0;
  const rows = await conform({
    ask: askByClient({
      environment: resolveEnvironment(sandbox.assets),
      apiKey: sandbox.apiKey,
      requestsPerSecond: 4,
      now: () => sandbox.now(),
      steadyNow: () => askedMs,
      sleep: (ms) => {
        askedMs += ms;
        return Promise.resolve();
      },
      fetch: (input, init) => {
        const request = new Request(input, init);
        requests.push(request);
        return answer(request);
      },
      signal: new AbortController().signal,
    }),
    now: () => sandbox.now(),
  });
  return {
    orders: sandbox.orders(),
    users: sandbox.users(),
    requests,
    askedMs,
    rows,
    named: (verdict: string) =>
      rows.filter((row) => row.verdict === verdict).map(({ name }) => name),
  };
}

Deno.test("conform() agrees with the sandbox in every row", async () => {
  const { named, rows } = await look();
  assert.deepEqual(named("differs"), []);
  assert.deepEqual(named("not_seen"), []);
  assert.ok(rows.length > 20);
});

Deno.test("conform() only reads orders and users with the partner's key, and is polite", async () => {
  const { requests, askedMs } = await look();
  const asked = requests.map(({ method, url }) =>
    `${method} ${new URL(url).pathname}`
  );
  assert.deepEqual([...new Set(asked)].sort(), [
    "GET /api/external/orders",
    "GET /api/external/users",
  ]);
  assert.ok(
    requests.every(({ headers }) => headers.get("x-api-key") === "sandbox-key"),
  );
  assert.ok(askedMs < 60_000, `${requests.length} requests, ${askedMs} ms`);
});

Deno.test("what conform() has seen holds no key, id, amount, address, transaction or phone", async () => {
  const { rows, orders, users } = await look();
  const text = JSON.stringify(rows);
  const secrets = [
    "sandbox-key",
    ...orders.flatMap((order) => [
      order.orderId,
      order.externalOrderId,
      order.clickId,
      order.userId,
      order.cardId,
      order.address,
      order.txId,
      order.cryptoAmount,
      order.currencyAmount,
    ]),
    ...users.flatMap((user) => [user.userId, user.phone]),
  ].filter((one) => one.length > 4);
  assert.ok(secrets.length > 300);
  assert.deepEqual(secrets.filter((one) => text.includes(one)), []);
});

Deno.test("a field or word that is new is named, unless it could name somebody", () => {
  assert.equal(fieldName("refund_state"), "refund_state");
  assert.equal(fieldName("01KA0000000000000000000ABC"), "(name of 26)");
  assert.equal(word("refunded", []), "refunded");
  assert.equal(word("Jane9912", []), "(text of 8)");
  assert.equal(
    timeForm("2026-01-02T03:04:05.678Z"),
    "9999-99-99T99:99:99.999Z",
  );
  assert.equal(timeForm("a person"), "(text of 8)");
});

Deno.test("conform() goes on where one question is not answered", async () => {
  const { named } = await look((answer) => (request) =>
    new URL(request.url).pathname.endsWith("/users")
      ? Promise.reject(new TypeError("connection reset"))
      : answer(request)
  );
  assert.deepEqual(
    named("not_seen"),
    Object.keys(CONFORMANCE_ROWS).filter((name) => name.startsWith("user")),
  );
  assert.deepEqual(named("differs"), []);
});

Deno.test("conform() finds exactly the row in which the service differs", async () => {
  const wrong: Record<string, readonly string[]> = {};
  for (const [name, differs] of Object.entries(DIFFERENCES)) {
    const { named } = await look(differs);
    const differing = named("differs");
    if (differing.join() !== name) wrong[name] = differing;
  }
  assert.deepEqual(wrong, {});
  assert.deepEqual(Object.keys(DIFFERENCES), Object.keys(CONFORMANCE_ROWS));
});

type Fields = Record<string, unknown>;
type List = "orders" | "users";

const isOf = (list: List, request: Request) =>
  new URL(request.url).pathname === `/api/external/${list}`;

/** A service that reads another query than the one that was sent. */
const asks =
  (list: List, change: (query: URLSearchParams) => void) =>
  (answer: Answerer): Answerer =>
  (request) => {
    if (!isOf(list, request)) return answer(request);
    const url = new URL(request.url);
    change(url.searchParams);
    return answer(new Request(url, request));
  };

/** A service that answers with another body. */
const answers =
  (list: List, change: (body: Fields, query: URLSearchParams) => void) =>
  (answer: Answerer): Answerer =>
  async (request) => {
    const response = await answer(request);
    if (!isOf(list, request) || !response.ok) return response;
    const body = parseWithExactNumbers(await response.text()) as Fields;
    change(body, new URL(request.url).searchParams);
    return new Response(JSON.stringify(body), response);
  };

/** A service that writes rows otherwise. */
const writes = (list: List, change: (row: Fields) => void) =>
  answers(list, ({ data }) => {
    for (const row of data as Fields[]) change(row);
  });

/** A service whose search for one id does not look into this field. */
const without = (field: string) =>
  answers("orders", (body, query) => {
    const asked = (query.get("search_by") ?? "").split(",");
    if (asked.length > 1) return;
    body.data = (body.data as Fields[]).filter((row) =>
      row[field] !== asked[0]
    );
  });

function move(query: URLSearchParams, name: string, ms: number): void {
  const time = Date.parse(query.get(name) ?? "");
  if (!Number.isNaN(time)) query.set(name, new Date(time + ms).toISOString());
}

/** One way for each row in which the service could be otherwise. */
const DIFFERENCES: Readonly<Record<string, (answer: Answerer) => Answerer>> = {
  order_amounts_are_numbers: writes("orders", (row) => {
    row.crypto_amount = String(Object(row.crypto_amount).text);
  }),
  order_status_listed: writes("orders", (row) => {
    if (row.status === "cancelled") row.status = "refunded";
  }),
  order_times_form: writes("orders", (row) => {
    row.changed_at = `${String(row.changed_at).replace(" ", "T")}Z`;
  }),
  order_times_in_utc: writes("orders", (row) => {
    row.changed_at = "2099-01-01 00:00:00";
  }),
  order_success_has_transaction: writes("orders", (row) => {
    if (row.status === "success") row.tx_id = "";
  }),
  orders_answer_form: answers("orders", (body) => {
    body.success = "yes";
  }),
  orders_current_form: answers("orders", (body) => {
    delete body.next_cursor_id;
  }),
  orders_limit_most: asks("orders", (query) => {
    if (query.get("limit") === "20" && !query.has("search_by")) {
      query.set("limit", "12");
    }
  }),
  orders_oldest_first: asks("orders", (query) => {
    if (query.get("order_by") === "asc") query.set("order_by", "desc");
  }),
  orders_start_exclusive: asks("orders", (query) => {
    move(query, "start_date", -1000);
  }),
  orders_end_inclusive: asks("orders", (query) => {
    move(query, "end_date", -1000);
  }),
  orders_cursor_goes_on: asks("orders", (query) => query.delete("cursor_id")),
  orders_cursor_ends: answers("orders", (body) => {
    if (body.next_cursor_id === "") body.next_cursor_id = "end";
  }),
  orders_by_order_id: without("order_id"),
  orders_by_click_id: without("click_id"),
  orders_by_twenty_ids: asks("orders", (query) => {
    const asked = (query.get("search_by") ?? "").split(",");
    if (asked.length > 1) query.set("search_by", asked.slice(0, 10).join());
  }),
  orders_by_unknown_id: (answer) => async (request) =>
    /search_by=01A+(?:&|$)/.test(request.url)
      ? Response.json({ message: "not found" }, { status: 404 })
      : await answer(request),
  user_kyc_listed: writes("users", (row) => {
    if (row.fkyc_status === "not initiated") row.fkyc_status = "none yet";
  }),
  users_oldest_first: asks("users", (query) => {
    if (query.get("order_by") === "asc") query.set("order_by", "desc");
  }),
  users_from_exclusive: asks("users", (query) => move(query, "from", -1)),
  users_to_inclusive: asks("users", (query) => move(query, "to", -1)),
  users_by_ids: asks("users", (query) => {
    const asked = (query.get("user_ids") ?? "").split(",");
    if (asked.length > 1) query.set("user_ids", String(asked[0]));
  }),
  service_clock: (answer) => async (request) => {
    const response = await answer(request);
    const headers = new Headers(response.headers);
    const date = Date.parse(headers.get("date") ?? "");
    headers.set("date", new Date(date - 3_600_000).toUTCString());
    return new Response(response.body, { status: response.status, headers });
  },
};
