import assert from "node:assert/strict";
import { found } from "../../resources/health/finding.ts";
import {
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
} from "../../ledger/mod.ts";
import { LedgerLooks, lookAtStoring, readinessOf } from "./readiness.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const now = () => 100_000;
const spool = (problem: string | null, oldestMs: number | null = null) => ({
  depth: oldestMs === null ? 0 : 3,
  oldestMs,
  ready: () =>
    problem === null ? Promise.resolve() : Promise.reject(new Error(problem)),
});

Deno.test("readinessOf() is a problem only where nothing durable takes deliveries", async () => {
  await using ledger = await emptyLedger();
  const well = await readinessOf({ open: () => ledger, now });
  assert.equal(well.problem, null);
  assert.deepEqual(well.degraded, []);

  const refusal = new LedgerError("full", "The disk is full");
  const spooling = await readinessOf({
    open: () => ledger,
    now,
    refusal,
    spool: spool(null),
  });
  assert.equal(spooling.problem, null);
  assert.equal(spooling.writable, false);
  assert.match(spooling.degraded.join(), /wait in the spool: The disk is full/);

  const nowhere = await readinessOf({
    open: () => ledger,
    now,
    refusal,
    spool: spool("No space left"),
  });
  assert.match(nowhere.problem ?? "", /No space left; The disk is full/);
  // A ledger that takes writes is no help: nothing goes there first.
  const full = await readinessOf({
    open: () => ledger,
    now,
    spool: spool("No space left"),
  });
  assert.equal(full.problem, "No space left");
  const alone = await readinessOf({ open: () => ledger, now, refusal });
  assert.equal(alone.problem, "The disk is full");
});

Deno.test("readinessOf() says degraded while a ledger that cannot be opened is spooled for", async () => {
  const { problem, degraded, lag } = await readinessOf({
    open: () => Promise.reject(new Error("No such host")),
    now,
    spool: spool(null),
  });
  assert.equal(problem, null);
  assert.equal(lag, null);
  assert.match(degraded.join(), /No such host/);
});

Deno.test("readinessOf() says degraded while deliveries wait for long", async () => {
  await using ledger = await emptyLedger();
  const look = (oldestMs: number) =>
    readinessOf({ open: () => ledger, now, spool: spool(null, oldestMs) });
  assert.deepEqual((await look(40_001)).degraded, []);
  const late = await look(39_999);
  assert.match(late.degraded.join(), /^Answered deliveries wait .*: 3 in the/);
  assert.deepEqual(late.conditions, [{
    code: "deliveries_waiting",
    level: "problem",
    since: "1970-01-01T00:00:39.999Z",
  }]);
});

Deno.test("readinessOf() names what else was found lately, and of what it sees itself only that", async () => {
  await using ledger = await emptyLedger();
  const { degraded, conditions } = await readinessOf({
    open: () => ledger,
    now,
    found: [
      found("ledger_refuses"),
      found("dead_letters"),
      found("clock_right"),
    ],
  });
  assert.deepEqual(degraded, []);
  assert.deepEqual(conditions, [
    { code: "dead_letters", level: "problem", since: null },
  ]);
});

Deno.test("readinessOf() does not wait for a lock, and names it once it is known", async () => {
  const locked = Promise.withResolvers<never>();
  const ledger = {
    lag: () => Promise.resolve(7),
    probe: () => locked.promise,
    driver: { batch: () => Promise.resolve([]) },
  } as unknown as Ledger;
  const looks = new LedgerLooks();
  const options = { open: () => ledger, now, looks, spool: spool(null) };
  const began = performance.now();
  const waiting = await readinessOf(options);
  assert.ok(performance.now() - began < 2000);
  assert.deepEqual([waiting.problem, waiting.writable], [null, false]);
  assert.match(waiting.degraded.join(), /holds its write lock/);
  locked.reject(new LedgerError("busy", "Process 7 holds the lock"));
  const known = await readinessOf(options);
  assert.match(known.degraded.join(), /Process 7 holds the lock/);
  assert.equal(known.lag, 7);
});

Deno.test("lookAtStoring() says what to do about the reason why a ledger refuses", async () => {
  const adviceOn = async (error: Error) => {
    const { findings } = await lookAtStoring({
      open: () => Promise.reject(error),
      now,
      spool: spool(null),
    });
    return findings.find(({ code }) => code === "ledger_refuses")?.next;
  };
  const refused = (code: LedgerErrorCode) =>
    adviceOn(new LedgerError(code, "It does not"));
  assert.match(await refused("busy") ?? "", /process that holds the lock/);
  assert.match(await refused("full") ?? "", /Make room on the disk/);
  assert.match(await refused("unreachable") ?? "", /server back/);
  assert.doesNotMatch(await adviceOn(new Error("x")) ?? "", /room/);
});
