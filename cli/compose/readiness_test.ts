import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { readinessOf } from "./readiness.ts";

const spool = (problem: string | null) => ({
  depth: 3,
  problem: () => Promise.resolve(problem),
});

Deno.test("readinessOf() is a problem only where nothing durable takes deliveries", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const well = await readinessOf({ open: () => ledger });
  assert.equal(well.problem, null);
  assert.deepEqual(well.degraded, []);

  const refusal = "The disk is full";
  const spooling = await readinessOf({
    open: () => ledger,
    refusal,
    spool: spool(null),
  });
  assert.equal(spooling.problem, null);
  assert.equal(spooling.writable, false);
  assert.match(spooling.degraded.join(), /go to the spool: The disk is full/);

  const nowhere = await readinessOf({
    open: () => ledger,
    refusal,
    spool: spool("No space left"),
  });
  assert.match(nowhere.problem ?? "", /The disk is full.*No space left/);
  const alone = await readinessOf({ open: () => ledger, refusal });
  assert.equal(alone.problem, refusal);
});

Deno.test("readinessOf() says degraded while a ledger that cannot be opened is spooled for", async () => {
  const { problem, degraded, lag } = await readinessOf({
    open: () => Promise.reject(new Error("No such host")),
    spool: spool(null),
  });
  assert.equal(problem, null);
  assert.equal(lag, null);
  assert.match(degraded.join(), /No such host/);
});
