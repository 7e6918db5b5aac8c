import assert from "node:assert/strict";
import { historyReport } from "./order_release.ts";

Deno.test("historyReport() tells once how many were withheld, when no more come", async () => {
  const told: string[] = [];
  let minute = 0;
  let orders = 5;
  const look = historyReport({
    read: () => Promise.resolve({ orders, users: orders - 5, listed: 1 }),
    report: ({ orders, users, listed }) =>
      told.push(`${minute}: ${orders} ${users} ${listed}`),
    now: () => minute * 60_000,
  });
  for (; minute < 20; minute++) {
    // What was there at the start was told before.
    if (minute > 2 && minute <= 10) orders += 100;
    await look();
  }
  assert.deepEqual(told, ["11: 805 800 1"]);
});
