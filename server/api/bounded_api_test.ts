import assert from "node:assert/strict";
import { boundedApi } from "./bounded_api.ts";
import { testApi } from "./test_api.ts";
import { answerSchema, documentOf } from "./test_openapi.ts";
import { until } from "../../tests/kit/until.ts";

Deno.test("boundedApi() answers one request too many with a problem that the OpenAPI document names", async () => {
  const open: (() => void)[] = [];
  const bounded = boundedApi(
    () =>
      new Promise((resolve) => open.push(() => resolve(new Response("done")))),
    { waiting: 1 },
  );
  const ask = () =>
    bounded(new Request("http://localhost/v1/orders"), {
      remoteAddr: { hostname: "127.0.0.1" },
    });
  const handled = ask();
  const waiting = ask();
  const refused = await ask();
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("content-type"), "application/problem+json");
  assert.equal(refused.headers.get("retry-after"), "1");
  assert.equal(refused.headers.get("connection"), "close");
  const problem = await refused.json();
  assert.equal(problem.type, "urn:rampkit:problem:too_many_requests");
  await using api = await testApi();
  const document = await documentOf(api);
  for (const operationId of ["listOrders", "pollNow", "getHealth"]) {
    answerSchema(document, operationId, 503).parse(problem);
  }
  open[0]?.();
  await handled;
  await until(() => open.length >= 2);
  open[1]?.();
  assert.equal((await waiting).status, 200);
});
