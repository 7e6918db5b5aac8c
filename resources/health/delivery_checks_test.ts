import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { watchdog } from "../../sync/mod.ts";
import type { Config } from "../../settings/config.ts";
import { deliveryChecks } from "./delivery_checks.ts";

Deno.test("deliveryChecks() warns where orders move and no webhook ever came", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const startMs = Date.parse("2026-11-20T09:00:00.000Z");
  for (const nowMs of [startMs, startMs + 3_600_000]) {
    const everyMs = 3_600_000;
    const { remember } = await watchdog(ledger.driver, { nowMs, everyMs });
    await ledger.driver.batch(remember, "write");
  }
  const look = async () => {
    const [delivery] = await deliveryChecks(
      ledger,
      { publicUrl: null } as Config,
      {
        now: () => startMs + 3_600_000,
        signal: new AbortController().signal,
      },
    );
    return delivery;
  };
  assert.equal((await look())?.status, "ok");
  const movedAt = new Date(startMs + 60_000).toISOString();
  await ledger.driver.batch([{
    sql: `INSERT INTO observed_changes (order_id, status, moved_at, seen_at)
      VALUES ('01ORDER', 'progress', ?1, ?1)`,
    args: [movedAt],
  }], "write");
  const found = await look();
  assert.equal(found?.status, "warn");
  assert.match(found?.detail ?? "", /never worked$/);
  assert.match(found?.advice ?? "", /dashboard/);
});

Deno.test("deliveryChecks() fails with both countdowns while delivery is suspected to be off", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const startMs = Date.parse("2026-11-20T09:00:00.000Z");
  for (const nowMs of [startMs, startMs + 3_600_000]) {
    const everyMs = 3_600_000;
    const { remember } = await watchdog(ledger.driver, { nowMs, everyMs });
    await ledger.driver.batch(remember, "write");
  }
  await ledger.appendDelivery({
    id: "01KA0000000000000000000001",
    receivedAt: new Date(startMs).toISOString(),
    body: new TextEncoder().encode('{"type":"login","user_id":"01USER"}'),
  });
  await ledger.driver.batch([{
    sql: `INSERT INTO observed_changes (order_id, status, moved_at, seen_at)
      VALUES ('01ORDER', 'progress', ?1, ?1), ('01ORDER', 'success', ?1, ?1)`,
    args: [new Date(startMs + 60_000).toISOString()],
  }], "write");
  const [delivery] = await deliveryChecks(
    ledger,
    { publicUrl: null } as Config,
    {
      now: () => startMs + 3_660_000,
      signal: new AbortController().signal,
    },
  );
  assert.equal(delivery?.status, "fail");
  assert.match(delivery?.detail ?? "", /17:01:00.000Z \(7 h 00 min left\)/);
  assert.match(delivery?.detail ?? "", /00:06:00.000Z \(14 h 05 min left\)/);
  assert.match(delivery?.advice ?? "", /^Press Test .* first/);
  assert.match(
    delivery?.advice ?? "",
    /recover --from 2026-11-20T09:01:00.000Z/,
  );
});
