import assert from "node:assert/strict";
import { readWaiting, writeWaiting } from "./stats.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

const start = Date.parse("2026-11-20T10:00:00.000Z");
const minute = 60_000;
const mover = { place: "/spool", process: "1" };
const other = { place: "/spool", process: "2" };
const elsewhere = { place: "/other", process: "3" };

const waiting = (count: number, oldestMs: number) => ({
  count,
  oldestMs,
});

Deno.test("writeWaiting() tells readers what all movers have waiting, until nothing waits", async () => {
  await using ledger = await emptyLedger({
    now: () => start,
  });
  const { driver } = ledger;
  await writeWaiting(driver, mover, null, start);
  assert.equal((await ledger.stats()).waiting, null);
  await writeWaiting(driver, mover, waiting(9, start - 9), start);
  await writeWaiting(driver, mover, waiting(3, start - 3.5), start);
  await writeWaiting(driver, other, waiting(4, start - 1), start);
  assert.deepEqual((await ledger.stats()).waiting, {
    count: 7,
    oldestMs: start - 4,
    ended: 0,
  });
  await writeWaiting(driver, mover, null, start);
  assert.equal((await ledger.stats()).waiting?.count, 4);
});

Deno.test("readWaiting() counts what was not written for two minutes as of an ended process", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await writeWaiting(driver, mover, waiting(3, start - 7), start);
  await writeWaiting(driver, other, waiting(4, start), start + minute);
  const ended = async (nowMs: number) =>
    (await readWaiting(driver, nowMs))?.ended;
  assert.equal(await ended(start - minute), 0);
  assert.equal(await ended(start + 2 * minute), 0);
  assert.equal(await ended(start + 2 * minute + 1), 3);
  assert.equal(await ended(start + 4 * minute), 7);
});

Deno.test("writeWaiting() removes what a process wrote of which no file was left in the same folder later", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await writeWaiting(driver, other, waiting(4, start), start);
  await writeWaiting(driver, elsewhere, waiting(5, start), start);
  const count = async () => (await readWaiting(driver, start))?.count;
  const listed = (listedMs: number, others: string[]) =>
    writeWaiting(
      driver,
      { ...mover, others: new Set(others), listedMs },
      null,
      start + 2,
    );
  await listed(start, []);
  assert.equal(await count(), 9, "it may have made a file since");
  await listed(start + 1, [other.process]);
  assert.equal(await count(), 9, "its files are there");
  await listed(start + 1, []);
  assert.equal(await count(), 5);
});

Deno.test("writeWaiting() removes at once what a process wrote that was taken over, whatever waits now", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const dead = { place: "/the/same/folder/by/another/name", process: "dead" };
  const takenOver = new Set(["dead"]);
  for (const now of [waiting(4, start), null]) {
    await writeWaiting(driver, dead, waiting(4, start), start);
    await writeWaiting(driver, { ...mover, takenOver }, now, start);
    assert.equal((await readWaiting(driver, start))?.count, now?.count);
  }
});
