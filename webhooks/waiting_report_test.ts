import assert from "node:assert/strict";
import { type Waiting, WaitingReport } from "./spool_mover.ts";

const waiting = (count: number) => (): Waiting => ({
  count,
  oldestMs: 1,
});

/** A report that is written down, with a clock of its own. */
function reporting() {
  const world = { nowMs: 1_000_000, fails: false };
  const told: (number | null)[] = [];
  const report = new WaitingReport((waiting) => {
    if (world.fails) return Promise.reject(new Error("It is locked"));
    told.push(waiting?.count ?? null);
    return Promise.resolve();
  }, () => world.nowMs);
  return { world, told, report };
}

Deno.test("WaitingReport is due every two seconds, and after the clock was set back", async () => {
  const it = reporting();
  assert.equal(it.report.isDue, true);
  await it.report.some(waiting(3));
  it.world.nowMs += 1_999;
  assert.equal(it.report.isDue, false);
  it.world.nowMs += 1;
  assert.equal(it.report.isDue, true);
  it.world.nowMs -= 3_600_000;
  assert.equal(it.report.isDue, true);
  await it.report.some(waiting(2));
  assert.equal(it.report.isDue, false);
  it.report.isLast = true;
  assert.equal(it.report.isDue, true);
  assert.equal(new WaitingReport(undefined, () => it.world.nowMs).isDue, false);
});

Deno.test("WaitingReport says at once that nothing waits any more, then every two minutes", async () => {
  const it = reporting();
  await it.report.nothing();
  await it.report.nothing();
  assert.deepEqual(it.told, [null], "an earlier process may have reported");
  await it.report.some(waiting(3));
  await it.report.nothing();
  await it.report.nothing();
  assert.deepEqual(it.told, [null, 3, null]);
  it.world.nowMs += 120_000;
  await it.report.nothing();
  assert.deepEqual(it.told, [null, 3, null, null]);
});

Deno.test("WaitingReport.hurry() has the next report follow at once", async () => {
  const it = reporting();
  await it.report.nothing();
  await it.report.nothing();
  it.report.hurry();
  await it.report.nothing();
  assert.deepEqual(it.told, [null, null]);
  await it.report.some(waiting(3));
  assert.equal(it.report.isDue, false);
  it.report.hurry();
  assert.equal(it.report.isDue, true);
});

Deno.test("WaitingReport says again what a failing ledger did not write", async () => {
  const it = reporting();
  await it.report.some(waiting(3));
  it.world.fails = true;
  await it.report.some(waiting(2));
  await it.report.nothing();
  it.world.fails = false;
  await it.report.nothing();
  assert.deepEqual(it.told, [3, null]);
});
