import assert from "node:assert/strict";
import { pathOfId } from "../../core/text.ts";
import { ledgerOn } from "../../ledger/for_server.ts";
import { LedgerError, openDriver } from "../../ledger/mod.ts";
import {
  orderRead,
  orderWebhook,
} from "../../ledger/testing/projection_test_kit.ts";
import { API_ROUTES } from "./api_app.ts";
import { PROBLEM_TYPE } from "./problem.ts";
import { OPERATE, READ, testApi } from "./testing/test_api.ts";

const ADDRESS = "http://127.0.0.1:8789";

/** Checks that an answer is a problem document, and gives its detail. */
async function problem(
  answer: Response,
  status: number,
  code: string,
): Promise<string> {
  const document = await answer.json();
  assert.equal(answer.status, status, JSON.stringify(document));
  assert.equal(answer.headers.get("content-type"), PROBLEM_TYPE);
  assert.equal(document.type, `urn:rampkit:problem:${code}`);
  assert.equal(document.status, status);
  assert.ok(document.title.length > 0);
  return document.detail;
}

Deno.test("apiApp() lets nobody read without a token, and nobody operate with one that may read", async () => {
  await using api = await testApi();
  for (const { method, path, scope } of API_ROUTES) {
    const url = ADDRESS + path.replaceAll(/\{\w+\}/g, "x");
    const without = await api.fetch(new Request(url, { method }));
    if (scope === null) {
      assert.equal(without.status, 200, path);
      continue;
    }
    await problem(without, 401, "unauthorized");
    assert.match(without.headers.get("www-authenticate") ?? "", /^Bearer/);
    const wrong = await api.fetch(
      new Request(url, { method, headers: { authorization: "Bearer wrong" } }),
    );
    await problem(wrong, 401, "unauthorized");
    if (scope !== "operate") continue;
    const reads = await api.fetch(
      new Request(url, {
        method,
        headers: { authorization: `Bearer ${READ}` },
      }),
    );
    await problem(reads, 403, "forbidden");
  }
  assert.ok(
    API_ROUTES.every(({ method, scope }) =>
      method === "GET" || scope === "operate" || scope === "support"
    ),
  );
  assert.deepEqual(
    API_ROUTES.filter(({ scope }) => scope === "support")
      .map(({ operationId }) => operationId),
    ["takeNote"],
  );
});

Deno.test("apiApp() lets a token that may operate read as well", async () => {
  await using api = await testApi();
  const answer = await api.get("/v1/orders", {
    authorization: `Bearer ${OPERATE}`,
  });
  assert.equal(answer.status, 200);
});

Deno.test("apiApp() without tokens lets read and not operate", async () => {
  await using api = await testApi({ tokens: "" });
  const read = await api.fetch(new Request(`${ADDRESS}/v1/orders`));
  assert.equal(read.status, 200);
  await problem(
    await api.fetch(new Request(`${ADDRESS}/v1/poll`, { method: "POST" })),
    403,
    "forbidden",
  );
});

Deno.test("apiApp() refuses the Host of a stranger, whatever the token", async () => {
  await using api = await testApi();
  for (const path of ["/v1/orders", "/v1/health", "/openapi.json", "/none"]) {
    const detail = await problem(
      await api.get(path, { host: "evil.example" }),
      421,
      "unknown_host",
    );
    assert.match(detail, /"evil\.example".*--api-allow-host/);
  }
});

Deno.test("apiApp() lets no other site read it from a browser", async () => {
  await using api = await testApi();
  for (const method of ["GET", "OPTIONS"]) {
    const answer = await api.fetch(
      new Request(`${ADDRESS}/v1/orders`, {
        method,
        headers: {
          authorization: `Bearer ${READ}`,
          origin: "https://evil.example",
          "access-control-request-method": "GET",
        },
      }),
    );
    await answer.body?.cancel();
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
    assert.equal(
      answer.headers.get("cross-origin-resource-policy"),
      "same-origin",
    );
  }
});

Deno.test("apiApp() answers nothing that a page of another site loads", async () => {
  await using api = await testApi({ tokens: "" });
  const ask = (site: string, mode: string) =>
    api.get("/v1/orders", { "sec-fetch-site": site, "sec-fetch-mode": mode });
  await problem(await ask("cross-site", "no-cors"), 403, "other_site");
  await problem(await ask("same-site", "cors"), 403, "other_site");
  for (const site of ["same-origin", "none"]) {
    const answer = await ask(site, "cors");
    assert.equal(answer.status, 200);
    await answer.body?.cancel();
  }
});

Deno.test("apiApp() says what is wrong with a request, with a problem document", async () => {
  await using api = await testApi();
  const cases: readonly (readonly [string, RegExp])[] = [
    ["/v1/orders?colour=red", /Unknown parameter "colour": .*cursor/],
    ["/v1/orders?limit=0", /limit: "0" is not a whole number from 1 to 1000/],
    ["/v1/orders?limit=1&limit=2", /limit: it is given twice/],
    ["/v1/orders?cursor=zzz", /cursor: "zzz" is not "next"/],
    ["/v1/orders?status=sucess", /status: "sucess" is not one of created/],
    ["/v1/orders?trust=much", /trust: "much" is not one of claimed/],
    ["/v1/orders?from=yesterday", /from: "yesterday" is not a time/],
    ["/v1/orders?from=2026-11-20T09:00:00", /is not a time/],
    ["/v1/orders?anomaly=odd", /anomaly: "odd" is not one of/],
    ["/v1/orders?user=", /user: it is empty/],
    [
      "/v1/orders?release=maybe",
      /release: "maybe" is not one of yes, no, wait/,
    ],
    ["/v1/orders?reason=none", /reason: "none" is not one of not_shown/],
    ["/v1/attention?kind=none", /kind: "none" is not one of refund_due/],
    ["/v1/attention?cursor=WyJhIiwiYiJd", /cursor/],
    ["/v1/deliveries?cursor=x", /cursor: "x"/],
    ["/v1/deliveries?quarantined=1", /quarantined: "1" is not one of true/],
    ["/v1/find", /Missing q/],
    ["/v1/transitions?after=-1", /after: "-1"/],
    ["/v1/transitions?wait=61", /wait: "61"/],
    [
      "/v1/transitions?on=order.confirmd.success",
      /"order.confirmd.success"; the closest is "order.confirmed.success"/,
    ],
    ["/v1/months/november", /Wrong month/],
    ["/v1/health?x=1", /Unknown parameter "x": this takes none/],
  ];
  for (const [path, detail] of cases) {
    assert.match(
      await problem(await api.get(path), 400, "bad_request"),
      detail,
      path,
    );
  }
  await problem(await api.get("/v1/orders/NONE"), 404, "not_found");
  await problem(await api.get("/v1/users/NONE"), 404, "not_found");
  await problem(await api.get("/v1/deliveries/NONE"), 404, "not_found");
  await problem(await api.get("/v1/recover"), 404, "not_found");
  await problem(await api.get("/v2/orders"), 404, "not_found");
  const wrongMethod = await api.post("/v1/orders");
  await problem(wrongMethod, 405, "method_not_allowed");
  assert.equal(wrongMethod.headers.get("allow"), "GET");
});

Deno.test("apiApp() answers HEAD as GET without a body, also where GET would stream", async () => {
  await using api = await testApi();
  for (const path of ["/v1/health", "/v1/orders", "/v1/transitions"]) {
    const answer = await api.fetch(
      new Request(ADDRESS + path, {
        method: "HEAD",
        headers: {
          authorization: `Bearer ${READ}`,
          accept: "text/event-stream",
        },
      }),
    );
    assert.equal(answer.status, 200);
    assert.equal(answer.body, null);
    assert.equal(answer.headers.get("content-type"), "application/json");
  }
});

Deno.test("apiApp() takes no body, however it is sent", async () => {
  await using api = await testApi();
  for (
    const body of [
      "x=1",
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array([65])),
      }),
      new ReadableStream({
        pull: (controller) => controller.error(new Error("reset")),
      }),
    ]
  ) {
    const answer = await api.fetch(
      new Request(`${ADDRESS}/v1/poll`, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${OPERATE}` },
      }),
    );
    await problem(answer, 413, "body_not_taken");
  }
  assert.deepEqual(api.log, []);
});

Deno.test("GET /v1/orders/{ref} names the orders where a reference leads to several", async () => {
  await using api = await testApi();
  await api.ledger.append([
    orderRead(1, { orderId: "O1", status: "pending", click: "SHARED" }),
    orderRead(2, { orderId: "O2", status: "pending", click: "SHARED" }),
  ]);
  await api.ledger.project();
  for (const path of ["", "/explanation", "/as-of?time=2026-11-20T10:00:00Z"]) {
    const answer = await api.get(`/v1/orders/SHARED${path}`);
    assert.equal(answer.status, 409);
    const { type, orderIds } = await answer.json();
    assert.equal(type, "urn:rampkit:problem:several");
    assert.deepEqual(orderIds, ["O1", "O2"]);
  }
  const one = await api.get("/v1/orders/XO1");
  assert.equal((await one.json()).orderId, "O1");
});

Deno.test("GET /v1/orders/{ref} gives the order that the service has shown, whatever webhooks name with its references", async () => {
  await using api = await testApi();
  await api.ledger.append([
    orderRead(1, { orderId: "O1", status: "pending", click: "C1" }),
    ...["F1", "C1", "XO1"].map((orderId, n) =>
      orderWebhook(`W${n}`, 2, {
        type: "order_complete",
        orderId,
        click: "C1",
        external: "XO1",
      })
    ),
    orderWebhook("W9", 3, {
      type: "order_complete",
      orderId: "F2",
      click: "C2",
    }),
  ]);
  await api.ledger.project();
  for (const reference of ["C1", "XO1"]) {
    const answer = await api.get(`/v1/orders/${reference}`);
    assert.equal(answer.status, 200);
    const { orderId, foundBy } = await answer.json();
    assert.equal(orderId, "O1");
    assert.equal(foundBy.trust, "confirmed");
    assert.deepEqual(foundBy.alsoClaimed.toSorted(), ["C1", "F1", "XO1"]);
  }
  const claimed = await (await api.get("/v1/orders/C2")).json();
  assert.deepEqual([claimed.orderId, claimed.foundBy], ["F2", {
    trust: "claimed",
    alsoClaimed: [],
  }]);
});

Deno.test("GET /v1/orders walks over all orders by its cursor", async () => {
  await using api = await testApi();
  await api.ledger.append(
    Array.from(
      { length: 5 },
      (_, index) =>
        orderRead(index, { orderId: `O${index}`, status: "pending" }),
    ),
  );
  await api.ledger.project();
  const ids: string[] = [];
  for (let next: string | null = ""; next !== null;) {
    const cursor: string = next === "" ? "" : `&cursor=${next}`;
    const answer = await api.get(`/v1/orders?limit=2${cursor}`);
    const page = await answer.json();
    ids.push(...page.items.map(({ orderId }: { orderId: string }) => orderId));
    next = page.next;
  }
  assert.deepEqual(ids.sort(), ["O0", "O1", "O2", "O3", "O4"]);
});

Deno.test("GET /v1/orders/{ref}/explanation tells with asOf what was known then", async () => {
  await using api = await testApi();
  await api.ledger.append([
    orderRead(10, { orderId: "O1", status: "pending" }),
    orderRead(20, { orderId: "O1", status: "success" }),
  ]);
  await api.ledger.project();
  const explained = async (query: string) => {
    const answer = await api.get(`/v1/orders/O1/explanation${query}`);
    const { state, events } = await answer.json();
    return [state.status, events.length];
  };
  assert.deepEqual(await explained(""), ["success", 2]);
  assert.deepEqual(
    await explained("?asOf=2026-11-20T08:15:00Z"),
    ["pending", 1],
  );
  const before = await api.get("/v1/orders/O1/explanation?asOf=2026-11-19");
  await problem(before, 404, "not_found");
});

Deno.test("apiApp() answers 503 while the database fails, logs it once, and says when it is over", async () => {
  let fails = false;
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn({
    location: driver.location,
    close: () => driver.close(),
    batch: (...given) =>
      fails
        ? Promise.reject(new LedgerError("failed", "Disk gone: /data/x.db"))
        : driver.batch(...given),
  }, { environment: "sandbox" });
  await using api = await testApi({ ledger });
  fails = true;
  for (let round = 0; round < 2; round++) {
    const answer = await api.get("/v1/health");
    assert.equal(answer.headers.get("retry-after"), "10");
    const detail = await problem(answer, 503, "unavailable");
    assert.doesNotMatch(detail, /Disk|x\.db/);
  }
  fails = false;
  // Another operation that works says nothing of the one that failed.
  assert.equal((await api.get("/v1/orders")).status, 200);
  assert.deepEqual(api.log.map(({ event }) => event), ["api_failing"]);
  assert.equal(api.log[0]?.fields.operation, "getHealth");
  assert.equal((await api.get("/v1/health")).status, 200);
  assert.deepEqual(api.log.map(({ event }) => event), [
    "api_failing",
    "api_recovered",
  ]);
});

Deno.test("apiApp() finds an order whose id is a step through a path", async () => {
  await using api = await testApi();
  const { ledger } = api;
  const ids = [".", "..", "a/../b", "?x=1"];
  await ledger.append(
    ids.map((orderId, at) =>
      orderRead(at, { orderId, status: "pending", user: `user-${orderId}` })
    ),
  );
  await ledger.project();
  for (const id of ids) {
    const answer = await api.get(`/v1/orders/${pathOfId(id)}`);
    assert.equal(answer.status, 200, id);
    assert.equal((await answer.json()).orderId, id);
  }
});
