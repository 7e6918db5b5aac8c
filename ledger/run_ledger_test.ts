import assert from "node:assert/strict";
import { openLedger } from "./open_ledger.ts";

const BOUND_MS = 60_000;

function webhook(orderId: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    `{"type":"order_complete","click_id":"c","order":{"id":"${orderId}"}}`,
  );
}

Deno.test("run() runs the poller that it is given until its signal, and folds what it appended", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
  });
  const stop = new AbortController();
  await ledger.run({
    signal: stop.signal,
    poller: {
      run: async (signal) => {
        assert.equal(signal, stop.signal);
        await ledger.appendDelivery({
          id: "01JD3Q5XK6T0V0QK3WZ5R5Q0ZV",
          receivedAt: new Date().toISOString(),
          body: webhook("polled"),
        });
        stop.abort();
      },
    },
  });
  assert.equal((await ledger.orders.get("polled"))?.trust, "claimed");
});

Deno.test("run() rejects with the error of its poller", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
  });
  const failed = new Error("the lease is lost");
  await assert.rejects(
    ledger.run({
      signal: new AbortController().signal,
      poller: { run: () => Promise.reject(failed) },
    }),
    failed,
  );
});

Deno.test("run() without a poller folds what is appended, and what came last once more", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
  });
  const stop = new AbortController();
  const folded = Promise.withResolvers<void>();
  const running = ledger.run({
    signal: stop.signal,
    onProjected: ({ position, chain }) => {
      if (position > 0 && chain.broken === null) folded.resolve();
    },
  });
  const store = (id: string, orderId: string) =>
    ledger.appendDelivery({
      id,
      receivedAt: new Date().toISOString(),
      body: webhook(orderId),
    });
  await store("01JD3Q5XK6T0V0QK3WZ5R5Q0ZA", "first");
  const limit = setTimeout(folded.reject, BOUND_MS, "nothing folded");
  await folded.promise;
  clearTimeout(limit);
  await store("01JD3Q5XK6T0V0QK3WZ5R5Q0ZB", "last");
  stop.abort();
  await running;
  assert.equal((await ledger.orders.get("last"))?.trust, "claimed");
});
