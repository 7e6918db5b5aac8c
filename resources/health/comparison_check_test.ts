import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import {
  ODD_ORDERS,
  oddEvents,
  oddReading,
} from "../../tests/kit/odd_ledger.ts";
import { comparisonCheck } from "./comparison_check.ts";

Deno.test("comparisonCheck() warns where orders succeed and nothing was ever recorded to compare with", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  assert.equal((await comparisonCheck(ledger)).status, "ok", "no order yet");
  await ledger.append([oddReading(ODD_ORDERS.pending, "pending", 20)]);
  await ledger.project();
  assert.equal((await comparisonCheck(ledger)).status, "ok", "no success yet");
  await ledger.append([oddReading(ODD_ORDERS.success, "success", 10)]);
  await ledger.project();
  const { status, detail, advice } = await comparisonCheck(ledger);
  assert.equal(status, "warn");
  assert.match(detail, /^Orders are released unchecked/);
  assert.match(advice ?? "", /recordSession/);
  assert.deepEqual(
    await Array.fromAsync(ledger.attention("not_comparable")),
    [],
    "one condition, and nothing to do about each order",
  );
  const [recorded] = oddEvents();
  assert.ok(recorded !== undefined);
  await ledger.append([recorded]);
  await ledger.project();
  assert.equal((await comparisonCheck(ledger)).status, "ok");
});
