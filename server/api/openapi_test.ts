import assert from "node:assert/strict";
import { addNote } from "../../ledger/for_resources.ts";
import * as z from "zod";
import {
  orderRead,
  orderWebhook,
  session,
  webhook,
} from "../../ledger/testing/projection_test_kit.ts";
import {
  createChainWitness,
  lookAtOrder,
  readChains,
} from "../../witness/mod.ts";
import { COMPONENTS } from "../../resources/schemas/json_schema.ts";
import { API_ROUTES } from "./api_app.ts";
import { openApi } from "./openapi.ts";
import { memoryLedger, type TestApi, testApi } from "./testing/test_api.ts";
import { answerSchema, documentOf, under } from "./testing/test_openapi.ts";

/** An API over a ledger with a bit of everything. */
async function filled(): Promise<TestApi> {
  const ledger = await memoryLedger();
  // It knows no network, and says so of each transaction.
  const witness = createChainWitness({ chains: readChains({}) });
  const api = await testApi({
    ledger,
    lookAtChain: (orderId) => lookAtOrder(ledger, orderId, { witness }),
    sessions: {
      create: () =>
        Promise.resolve({ sessionId: "S9", requestId: null, warnings: [] }),
    },
    poller: { pollNow: () => true },
  });
  await ledger.append([
    session(0, "S1", "C1"),
    orderWebhook("01JD3Q5XK6T0V0QK3WZ5R5Q0Z1", 1, {
      type: "payment_started",
      orderId: "O1",
      session: "S1",
      click: "C1",
      user: "U1",
    }),
    orderRead(2, { orderId: "O1", status: "pending", click: "C1", user: "U1" }),
    orderRead(3, { orderId: "O2", status: "cancelled", tx: "f2" }),
    orderRead(4, { orderId: "O3", status: "success", tx: "f1" }),
    orderRead(5, { orderId: "O3", status: "failed" }),
    webhook("01JD3Q5XK6T0V0QK3WZ5R5Q0Z2", 6, "no JSON"),
  ]);
  await ledger.project();
  await addNote(ledger.driver, {
    ...{ entity: "order", entityId: "O1", action: "note", reasons: [] },
    ...{ text: "told the customer", author: "Ada" },
  }, Date.now());
  await ledger.months.close("2026-10", {
    timeZone: "UTC",
    bookBy: "confirmed",
  });
  const done = Promise.withResolvers<void>();
  const subscription = await ledger.subscribe(
    "goods",
    { on: "order.confirmed.cancelled", from: "start", maxAttempts: 1 },
    () => {
      done.resolve();
      throw new Error("No goods left");
    },
  );
  await done.promise;
  await subscription.stop();
  return api;
}

Deno.test("every answer of the API is what its OpenAPI document says, and nothing more", async () => {
  await using api = await filled();
  const document = await documentOf(api);
  const gets: readonly (readonly [string, string])[] = [
    ["listOrders", "/v1/orders"],
    ["listOrders", "/v1/orders?limit=1"],
    ["getOrder", "/v1/orders/O1"],
    ["getOrder", "/v1/orders/O3"],
    ["getOrderAsOf", "/v1/orders/O3/as-of?time=2026-11-20T08:04:30Z"],
    ["explainOrder", "/v1/orders/O1/explanation"],
    ["listNotes", "/v1/notes?entity=order&id=O1"],
    ["listUsers", "/v1/users"],
    ["getUser", "/v1/users/U1"],
    ["readTransitions", "/v1/transitions"],
    ["sumOrders", "/v1/orders/totals"],
    ["listDeliveries", "/v1/deliveries"],
    ["getDelivery", "/v1/deliveries/01JD3Q5XK6T0V0QK3WZ5R5Q0Z2"],
    ["listAttention", "/v1/attention"],
    ["find", "/v1/find?q=O1"],
    ["find", "/v1/find?q=U1"],
    ["find", "/v1/find?q=C1"],
    ["getHealth", "/v1/health"],
    ["getStatus", "/v1/status"],
    ["getStats", "/v1/stats"],
    ["getEvidence", "/v1/evidence"],
    ["listMonths", "/v1/months"],
    ["getMonth", "/v1/months/2026-10"],
    ["recomputeMonth", "/v1/months/2026-10/recomputation"],
    ["listSubscriptions", "/v1/subscriptions"],
  ];
  const posts: readonly (readonly [string, string, number, unknown?])[] = [
    ["pollNow", "/v1/poll", 202],
    ["lookAtChain", "/v1/orders/O1/witness", 200],
    ["lookAtChain", "/v1/orders/O2/witness", 200],
    ["readOrder", "/v1/orders/O1/read", 202],
    ["retryDeadLetters", "/v1/subscriptions/goods/retry", 200],
    ["dropDeadLetter", "/v1/subscriptions/goods/drop?key=none", 200],
    ["stopTarget", "/v1/subscriptions/goods/stop", 200],
    ["resumeTarget", "/v1/subscriptions/goods/resume", 200],
    ["fireTransition", "/v1/transitions/fire?key=none", 200],
    ["expectOrder", "/v1/expectations", 200, { clickId: "c-1" }],
    [
      ...["releaseOrder", "/v1/orders/O1/released"] as const,
      200,
      { outcome: "refunded", by: "Ada", why: "paid twice", confirmed: true },
    ],
    ["createSession", "/v1/sessions", 200, { flowType: "simple" }],
    [
      ...["takeNote", "/v1/notes"] as const,
      200,
      { entity: "user", id: "U1", action: "note", text: "ticket 4711" },
    ],
    [
      ...["fireHistory", "/v1/subscriptions/goods/fire-historic"] as const,
      200,
    ],
    [
      "closeMonth",
      "/v1/months/2026-11/close?beforeEnd=true",
      200,
    ],
  ];
  const asked = [
    ...gets.map(([id, path]) => ({
      id,
      path,
      status: 200,
      post: false,
      sent: undefined,
    })),
    ...posts.map(([id, path, status, sent]) => ({
      id,
      path,
      status,
      post: true,
      sent,
    })),
  ];
  for (const { id, path, status, post, sent } of asked) {
    const answer = await (post ? api.post(path, sent) : api.get(path));
    const body = await answer.json();
    assert.equal(answer.status, status, `${path}: ${JSON.stringify(body)}`);
    const { error } = answerSchema(document, id, status).safeParse(body);
    assert.equal(
      error,
      undefined,
      `${path}: ${error && z.prettifyError(error)}`,
    );
    // An empty list would agree with any schema.
    if (Array.isArray(body.items)) assert.ok(body.items.length > 0, path);
  }
  // Asked beside its command.
  const elsewhere = ["exportOrders", "getMonthFile", "listUnfired"];
  assert.deepEqual(
    API_ROUTES.map(({ operationId }) => operationId)
      .filter((id) => !asked.some((one) => one.id === id)),
    elsewhere,
  );
  const problem = answerSchema(document, "getOrder", 404);
  const { error } = problem.safeParse(
    await (await api.get("/v1/orders/NONE")).json(),
  );
  assert.equal(error, undefined);
  assert.ok(!problem.safeParse({ error: "Not found" }).success);
});

Deno.test("openApi() describes every route, refers only to what is there, and names operations once", () => {
  const document = openApi(API_ROUTES, "1.2.3");
  assert.equal(document.openapi, "3.1.0");
  const { schemas } = Object(document.components);
  for (const ref of under("$ref", document)) {
    const name = String(ref).replace("#/components/schemas/", "");
    assert.ok(Object.hasOwn(schemas, name), String(ref));
  }
  const ids = API_ROUTES.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const { method, path, placeholders = {}, scope } of API_ROUTES) {
    const operation = Object(document.paths)[path][method.toLowerCase()];
    assert.deepEqual(
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      Object.keys(placeholders),
      path,
    );
    assert.equal(operation.security.length, scope === null ? 0 : 1, path);
    assert.ok(operation.responses[400], path);
  }
  // Shapes that the API does not answer with stay out.
  assert.ok(schemas.Order && schemas.Release && !schemas.Simulation);
  assert.ok(COMPONENTS.Simulation);
});

Deno.test("every address that the documents show is a route, with parameters that it takes", async () => {
  const { paths } = openApi(API_ROUTES, "1.2.3");
  const routes = Object.entries(paths as object).map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/\{[a-z]+\}/g, "[^/]+")}$`),
    names: [...under("name", methods)],
  }));
  const shown: string[] = [];
  for (const document of ["integrate", "operate"]) {
    const text = await Deno.readTextFile(
      new URL(`../../docs/${document}.md`, import.meta.url),
    );
    const addresses =
      /127\.0\.0\.1:8789(\/v1[^\s"`]*)|`(?:[A-Z]+ )?(\/v1[^\s`]*)`/g;
    for (const [, whole, path] of text.matchAll(addresses)) {
      shown.push(whole ?? path ?? "");
    }
  }
  assert.ok(shown.length >= 7, shown.join(" "));
  for (const address of shown) {
    const { pathname, searchParams } = new URL(address, "http://localhost");
    const route = routes.find(({ pattern }) => pattern.test(pathname));
    assert.ok(route !== undefined, address);
    for (const name of searchParams.keys()) {
      assert.ok(route.names.includes(name), `${address}: ${name}`);
    }
  }
});
