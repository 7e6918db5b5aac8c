import assert from "node:assert/strict";
import { ChainLog } from "./log_alerts.ts";

Deno.test("ChainLog logs the head at the start and hourly, and a broken chain once", () => {
  const told: string[] = [];
  let ms = 0;
  const chain = new ChainLog({
    log: (level, event) => told.push(`${ms / 60_000} ${level} ${event}`),
    now: () => ms,
    steady: () => ms,
  });
  const whole = { position: 1, events: 1, hash: "00", broken: null };
  const broken = {
    ...whole,
    broken: { code: "other_ledger", ledgerId: "ab" } as const,
  };
  for (let minute = 0; minute <= 200; minute++) {
    ms = minute * 60_000;
    chain.take(minute > 130 ? broken : whole);
  }
  assert.deepEqual(told, [
    "0 info chain_head",
    "60 info chain_head",
    "120 info chain_head",
    "131 error chain_broken",
  ]);
});
