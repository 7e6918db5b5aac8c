import assert from "node:assert/strict";
import { RateLimiter } from "./rate_limiter.ts";

Deno.test("RateLimiter.take() waits no longer because the clock was set back", async () => {
  let now = 1_000_000;
  const waits: number[] = [];
  const budget = new RateLimiter({
    requestsPerSecond: 1,
    maxInFlight: 10,
    now: () => now,
    sleep: (ms) => {
      waits.push(ms);
      now += ms;
      return Promise.resolve();
    },
  });
  const take = () =>
    budget.take(now + 60_000, () => new Error("late"), undefined);
  (await take()).release();
  now -= 600_000;
  (await take()).release();
  assert.ok(waits.every((ms) => ms <= 1000), `${waits}`);
});
