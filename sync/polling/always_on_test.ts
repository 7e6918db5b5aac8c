import assert from "node:assert/strict";
import { type Ledger, openDriver, openLedger } from "../../ledger/mod.ts";
import { moving, service } from "../testing/polling_test_kit.ts";
import { createPoller } from "./poller.ts";
import { orderWebhook } from "../../ledger/testing/projection_test_kit.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

/** What an embedding program does with a ledger in a file. */
async function embedding(
  work: (ledger: Ledger, path: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  await using ledger = await openLedger({
    url: `file:${path}`,
    environment: "sandbox",
    worker: false,
  });
  await work(ledger, path);
}

/** Changes the file as somebody with a database tool would. */
async function tamper(path: string, ...statements: string[]): Promise<void> {
  const driver = await openDriver({ url: `file:${path}`, worker: false });
  await driver.batch(statements.map((sql) => ({ sql, args: [] })), "write");
  await driver.close();
}

Deno.test("Ledger.project() extends the chain, so that a deleted event is noticed", async () => {
  await embedding(async (ledger, path) => {
    await ledger.append([
      orderWebhook("W1", 1, { type: "payment_started", orderId: "O1" }),
      orderWebhook("W2", 2, { type: "order_complete", orderId: "O1" }),
      orderWebhook("W3", 3, { type: "payment_started", orderId: "O2" }),
    ]);
    await ledger.project();
    assert.equal((await ledger.stats()).chain.count, 3);
    await tamper(path, "DELETE FROM events WHERE position = 2");
    const found = await ledger.verify();
    assert.deepEqual([found.ok, found.firstBrokenPosition, found.damage], [
      false,
      2,
      "removed",
    ]);
  });
});

Deno.test("Poller.run() extends the chain, so that a deleted event is noticed", async () => {
  await using box = service();
  const { clock, client, sandbox } = box;
  sandbox.createOrder({ status: "success" });
  await embedding(async (ledger, path) => {
    const stop = new AbortController();
    const running = createPoller({
      ledger,
      client,
      now: () => clock.now(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      requestsPerSecond: 1000,
    }).run(stop.signal);
    for (let looks = 0; looks < 200; looks++) {
      await clock.advance(1000);
      if ((await ledger.stats()).chain.count > 0) break;
    }
    stop.abort();
    await moving(running, clock);
    assert.ok((await ledger.stats()).chain.count > 0);
    await tamper(path, "DELETE FROM events WHERE position = 1");
    assert.equal((await ledger.verify()).damage, "removed");
  });
});
