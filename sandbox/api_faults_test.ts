import assert from "node:assert/strict";
import { type VirtualClock, virtualClock } from "./clock.ts";
import { createSandbox } from "./create_sandbox.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

function setUp(
  options: SandboxOptions,
): { sandbox: Sandbox; clock: VirtualClock } {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  return { clock, sandbox: createSandbox({ clock, ...options }) };
}

const ask = (sandbox: Sandbox, signal?: AbortSignal) =>
  sandbox.fetch(
    new Request("http://sandbox/api/external/orders", {
      headers: { "x-api-key": sandbox.apiKey },
      ...(signal && { signal }),
    }),
  );

Deno.test("withApiFaults() answers 429 with Retry-After when apiTooManyRequests strikes", async () => {
  const { sandbox } = setUp({ faults: { apiTooManyRequests: 1 } });
  const response = await ask(sandbox);
  assert.equal(response.status, 429);
  assert.match(response.headers.get("retry-after") ?? "", /^[1-3]$/);
  assert.equal(sandbox.counters.apiTooManyRequests, 1);
});

Deno.test("withApiFaults() answers 5xx when apiServerError strikes, sometimes without JSON", async () => {
  const { sandbox } = setUp({ faults: { apiServerError: 1 } });
  const seen = new Set<string>();
  for (let count = 0; count < 40; count++) {
    const response = await ask(sandbox);
    seen.add(`${response.status} ${response.headers.get("content-type")}`);
  }
  assert.deepEqual([...seen].sort(), [
    "500 application/json",
    "502 text/html",
    "503 application/json",
  ]);
});

Deno.test("withApiFaults() may carry out a request and answer 5xx", async () => {
  const { sandbox } = setUp({ faults: { apiServerError: 1 } });
  const create = (phone: string) =>
    sandbox.fetch(
      new Request("http://sandbox/api/external/users/create", {
        method: "POST",
        headers: { "x-api-key": sandbox.apiKey },
        body: JSON.stringify({
          has_accepted_terms_of_service: true,
          phone,
          email: "ada@example.com",
          first_name: "Ada",
          last_name: "Lovelace",
          date_of_birth: "2000-01-01",
          country_of_residence: "DEU",
        }),
      }),
    );
  for (let count = 10; count < 50; count++) {
    assert.ok((await create(`+14155550${count}`)).status >= 500);
  }
  const made = sandbox.users().length;
  assert.ok(made > 5 && made < 35, String(made));
});

Deno.test("withApiFaults() hangs until the caller gives up when apiTimeout strikes", async () => {
  const { sandbox, clock } = setUp({ faults: { apiTimeout: 1 } });
  let answered = 0;
  const stop = new AbortController();
  void ask(sandbox, stop.signal).then(() => answered++);
  await clock.advance(119_000);
  assert.equal(answered, 0);
  stop.abort();
  await clock.settle();
  assert.equal(answered, 1);
  assert.equal(clock.pendingTimers, 0);
  void ask(sandbox).then((response) => answered += response.status);
  await clock.advance(120_000);
  assert.equal(answered, 505);
});

Deno.test("withApiFaults() sends the same body slowly when apiSlowBody strikes", async () => {
  const { sandbox, clock } = setUp({ faults: { apiSlowBody: 1 } });
  sandbox.createOrder();
  let text = "";
  const reading = ask(sandbox).then((response) => response.text())
    .then((got) => text = got);
  await clock.advance(3_999);
  assert.equal(text, "");
  await clock.advance(1);
  await reading;
  assert.equal(JSON.parse(text).data.length, 1);
});

Deno.test("fetch() answers 404 to unknown paths and 413 to large bodies", async () => {
  const { sandbox } = setUp({});
  const get = (path: string) =>
    sandbox.fetch(new Request(`http://sandbox${path}`));
  assert.equal((await get("/nothing")).status, 404);
  assert.equal((await get("/other-partner/widget")).status, 404);
  const large = await sandbox.fetch(
    new Request("http://sandbox/api/external/users/create", {
      method: "POST",
      headers: { "content-length": "99999999" },
      body: "{}",
    }),
  );
  assert.equal(large.status, 413);
});

Deno.test("an order whose fields nest deeply is answered as it is", async () => {
  const { sandbox } = setUp({});
  const { orderId } = sandbox.createOrder();
  const deep = JSON.parse("[".repeat(5000) + "]".repeat(5000));
  sandbox.amendOrder(orderId, { txId: deep });
  const response = await ask(sandbox);
  assert.equal(response.status, 200);
  assert.ok((await response.text()).includes("[".repeat(5000)));
});
