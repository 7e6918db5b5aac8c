import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { openLedger } from "../../ledger/mod.ts";
import { createSandbox, type Sandbox } from "../../sandbox/mod.ts";
import { createPoller } from "./poller.ts";

const BOUND_MS = 60_000;

function clientOf(sandbox: Sandbox): OnrampClient {
  return new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    requestsPerSecond: 1000,
  });
}

function webhook(orderId: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    `{"type":"order_complete","click_id":"c","order":{"id":"${orderId}"}}`,
  );
}

Deno.test("run() folds, chains, dispatches and polls until its signal, in one line", async () => {
  await using sandbox = createSandbox();
  const { orderId } = sandbox.createOrder();
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(orderId, step);
  }
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
  });
  const stop = new AbortController();
  const delivered = Promise.withResolvers<string>();
  await ledger.subscribe(
    "goods",
    { on: "order.confirmed.success" },
    ({ id }) => delivered.resolve(id),
  );
  const problems: unknown[] = [];
  const running = ledger.run({
    signal: stop.signal,
    poller: createPoller({
      ledger,
      client: clientOf(sandbox),
      requestsPerSecond: 1000,
    }),
    onError: (error) => problems.push(error),
  });
  await ledger.appendDelivery({
    id: "01JD3Q5XK6T0V0QK3WZ5R5Q0ZV",
    receivedAt: new Date().toISOString(),
    body: webhook(orderId),
  });
  const limit = setTimeout(delivered.reject, BOUND_MS, "nothing delivered");
  assert.equal(await delivered.promise, orderId);
  clearTimeout(limit);
  stop.abort();
  await running;
  assert.deepEqual(problems, []);
  assert.equal((await ledger.orders.get(orderId))?.trust, "confirmed");
  const { chain, position } = await ledger.stats();
  assert.equal(chain.position, position);
});
