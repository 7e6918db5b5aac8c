import assert from "node:assert/strict";
import { httpApp, type Readiness } from "./http_app.ts";

const ready: Readiness = {
  writable: true,
  lag: 0,
  spooled: 0,
  problem: null,
  degraded: [],
  conditions: [],
};

function app(readiness: Readiness = ready) {
  return httpApp({
    endpoint: (request) =>
      Promise.resolve(new Response(`heard ${new URL(request.url).pathname}`)),
    readiness: () => Promise.resolve(readiness),
  });
}

Deno.test("httpApp() hands every request under /webhooks/ to the endpoint", async () => {
  for (const method of ["POST", "GET", "PUT"]) {
    const answer = await app()(
      new Request("http://127.0.0.1:8787/webhooks/secret?x=1", { method }),
    );
    assert.equal(await answer.text(), "heard /webhooks/secret");
  }
});

Deno.test("httpApp() does not mistake another path for a delivery", async () => {
  for (
    const url of [
      "http://127.0.0.1/a/webhooks/x",
      "http://127.0.0.1/?x=/webhooks/x",
      "http://127.0.0.1/webhooks",
    ]
  ) {
    const answer = await app()(new Request(url, { method: "POST" }));
    assert.equal(answer.status, 404, url);
  }
});

Deno.test("httpApp() answers /healthz while the process lives", async () => {
  const answer = await app()(new Request("http://127.0.0.1/healthz"));
  assert.deepEqual([answer.status, await answer.json()], [200, { ok: true }]);
  // Whether other hosts of a name speak TLS is its owner's to say.
  assert.equal(answer.headers.get("strict-transport-security"), null);
});

Deno.test("httpApp() answers /readyz with 503 and the problem only when nothing durable takes deliveries", async () => {
  assert.equal(
    (await app()(new Request("http://127.0.0.1/readyz"))).status,
    200,
  );
  const spooling = await app({
    ...ready,
    writable: false,
    degraded: ["Deliveries go to the spool"],
  })(new Request("http://127.0.0.1/readyz"));
  assert.equal(spooling.status, 200);
  assert.deepEqual((await spooling.json()).degraded, [
    "Deliveries go to the spool",
  ]);
  const problem = "Database is locked";
  const answer = await app({ ...ready, writable: false, problem })(
    new Request("http://127.0.0.1/readyz"),
  );
  assert.equal(answer.status, 503);
  assert.equal((await answer.json()).problem, problem);
});

Deno.test("httpApp() looks at the ledger four times a second at most, however many ask /readyz", async () => {
  let looks = 0;
  let nowMs = 0;
  let look = Promise.withResolvers<Readiness>();
  const serving = httpApp({
    endpoint: () => Promise.resolve(new Response()),
    readiness: () => {
      looks++;
      return look.promise;
    },
    steadyNow: () => nowMs,
  });
  const ask = async () => {
    const answer = await serving(new Request("http://127.0.0.1/readyz"));
    await answer.body?.cancel();
    return answer.status;
  };
  const asked = [ask(), ask(), ask()];
  look.resolve(ready);
  assert.deepEqual(await Promise.all(asked), [200, 200, 200]);
  nowMs += 249;
  assert.equal(await ask(), 200);
  assert.equal(looks, 1);
  nowMs += 1;
  look = Promise.withResolvers();
  look.resolve({ ...ready, problem: "No room is left" });
  assert.equal(await ask(), 503);
  assert.equal(looks, 2);
});

Deno.test("httpApp() answers /metrics as Prometheus reads it, and only where there are metrics", async () => {
  const request = () => new Request("http://127.0.0.1/metrics");
  assert.equal((await app()(request())).status, 404);
  const measured = httpApp({
    endpoint: () => Promise.reject(new Error("Not asked")),
    readiness: () => Promise.resolve(ready),
    metrics: () => "rampkit_orders 1\n",
  });
  const answer = await measured(request());
  assert.equal(
    answer.headers.get("content-type"),
    "text/plain; version=0.0.4; charset=utf-8",
  );
  assert.equal(await answer.text(), "rampkit_orders 1\n");
});
