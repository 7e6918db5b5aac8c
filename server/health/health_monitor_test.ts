import assert from "node:assert/strict";
import { takeLease, writeSweep } from "../../ledger/for_sync.ts";
import { found } from "../../resources/health/finding.ts";
import {
  FindingsReport,
  HealthMonitor,
  lookAround,
  MACHINE,
  readHeard,
  readReported,
  REPORTER,
} from "./look_around.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const config = { databaseUrl: ":memory:", spoolDir: null };

Deno.test("HealthMonitor.look() leaves the watchdog alone while nobody polls", async () => {
  await using ledger = await emptyLedger();
  const monitor = new HealthMonitor({
    ledger,
    config,
    own: () => Promise.resolve([]),
    now: Date.now,
    onLook: () => {},
  });
  const subjects = async () =>
    (await monitor.look()).map(({ subject }) => subject);
  assert.ok(!(await subjects()).includes("delivery"));
  const lease = { name: "poll", holder: "test", leaseMs: 60_000 };
  await takeLease(ledger.driver, lease);
  assert.ok((await subjects()).includes("delivery"));
});

Deno.test("HealthMonitor.run() tells other processes what only this one sees, and takes it back when it ends", async () => {
  await using ledger = await emptyLedger();
  const reported = async () =>
    (await readReported(ledger.driver, Date.now())).map(({ code }) => code);
  const stop = new AbortController();
  let during: readonly string[] = [];
  const monitor = new HealthMonitor({
    ledger,
    config,
    own: () =>
      Promise.resolve([
        found("spool_nearly_full"),
        found("ledger_writable"),
        // The ledger says this itself, and is not asked to say it for longer.
        found("poll_failing"),
      ]),
    now: Date.now,
    onLook: () => {},
    sleep: async () => {
      during = await reported();
      stop.abort();
    },
  });
  await monitor.look();
  assert.deepEqual(await reported(), [], "a look alone tells nobody");
  await monitor.run(stop.signal);
  assert.deepEqual(during, ["spool_nearly_full"]);
  assert.deepEqual(await reported(), []);
});

Deno.test("lookAround() finds what another process has reported lately, and not what it reported long ago", async () => {
  await using ledger = await emptyLedger();
  const nowMs = Date.now();
  const report = new FindingsReport(ledger.driver);
  await report.take([found("spool_nearly_full")], nowMs);
  const codes = async (at: number) =>
    (await lookAround({ ledger, config, nowMs: at })).map(({ code }) => code);
  assert.ok((await codes(nowMs + 119_000)).includes("spool_nearly_full"));
  assert.ok(!(await codes(nowMs + 121_000)).includes("spool_nearly_full"));
  assert.deepEqual(await readReported(ledger.driver, nowMs, REPORTER), []);
  // What stands is stored again before it counts as old.
  await report.take([found("spool_nearly_full")], nowMs + 61_000);
  assert.ok((await codes(nowMs + 179_000)).includes("spool_nearly_full"));
  await report.take([], nowMs + 62_000);
  assert.ok(!(await codes(nowMs + 62_000)).includes("spool_nearly_full"));
});

Deno.test("lookAround() never rejects, and says what cannot be looked at", async () => {
  const ledger = await emptyLedger();
  await ledger.close();
  const findings = await lookAround({
    ledger,
    config,
    nowMs: Date.now(),
    own: () => Promise.reject(new Error("No ledger")),
  });
  const unseen = findings.filter(({ code }) => code === "not_looked_at");
  assert.ok(unseen.length > 5, JSON.stringify(findings));
});

Deno.test("readReported() leaves to each process what it can see on its own machine", async () => {
  await using ledger = await emptyLedger();
  const nowMs = Date.now();
  const report = new FindingsReport(ledger.driver);
  await report.take([], nowMs, [found("backups_none")]);
  assert.deepEqual(await readReported(ledger.driver, nowMs), []);
  assert.ok(
    (await readHeard(ledger.driver, nowMs)).has(`${MACHINE} backups_none`),
  );
  await ledger.driver.batch([
    writeSweep("health", {
      "other 7": { atMs: nowMs, found: [], ofMachine: [found("backups_none")] },
    }, nowMs),
  ], "write");
  const [elsewhere] = await readReported(ledger.driver, nowMs);
  assert.match(elsewhere?.detail ?? "", /\(on other\)$/);
});
