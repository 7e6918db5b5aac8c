import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import {
  minutesAgo,
  ODD_ORDERS,
  oddEvents,
  oddReading,
} from "../../tests/kit/odd_ledger.ts";
import { lookAtComparison } from "./comparison_health.ts";

Deno.test("lookAtComparison() finds one condition where orders succeed and nothing was ever recorded to compare with", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
    goLive: minutesAgo(75),
  });
  const look = async () => {
    await ledger.project();
    return (await lookAtComparison(ledger.driver))[0];
  };
  assert.equal((await look())?.code, "orders_checked", "no order yet");
  await ledger.append([oddReading(ODD_ORDERS.pending, "pending", 20)]);
  await ledger.append([oddReading(ODD_ORDERS.refund, "success", 20)]);
  assert.equal((await look())?.code, "orders_checked", "others released it");
  await ledger.append([
    oddReading(ODD_ORDERS.success, "success", 10),
    oddReading(ODD_ORDERS.mismatch, "success", 5),
  ]);
  const found = await look();
  assert.equal(found?.code, "released_unchecked");
  assert.equal(found?.level, "warning");
  assert.equal(found?.since, minutesAgo(70));
  assert.match(found?.next ?? "", /recordSession/);
  assert.deepEqual(
    await Array.fromAsync(ledger.attention("not_comparable")),
    [],
    "one condition, and nothing to do about each order",
  );
  const [recorded] = oddEvents();
  assert.ok(recorded !== undefined);
  await ledger.append([recorded]);
  assert.equal((await look())?.code, "orders_checked");
});
