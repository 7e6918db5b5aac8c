import assert from "node:assert/strict";
import { openLedger, watchdog } from "../../ledger/mod.ts";
import type { Config } from "../config.ts";
import { deliveryChecks } from "./delivery_checks.ts";

Deno.test("deliveryChecks() warns where orders move and no webhook ever came", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const startMs = Date.parse("2026-11-20T09:00:00.000Z");
  const { remember } = await watchdog(ledger.driver, { nowMs: startMs });
  await ledger.driver.batch(remember, "write");
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
    sql: `INSERT INTO order_moves (order_id, status, moved_at, seen_at)
      VALUES ('01ORDER', 'progress', ?1, ?1)`,
    args: [movedAt],
  }], "write");
  const found = await look();
  assert.equal(found?.status, "warn");
  assert.match(found?.detail ?? "", /never worked$/);
  assert.match(found?.advice ?? "", /dashboard/);
});
