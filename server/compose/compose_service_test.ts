import assert from "node:assert/strict";
import type { Ledger } from "../../ledger/mod.ts";
import { until } from "../../tests/kit/until.ts";
import { PrometheusMetrics } from "../monitoring/prometheus/prometheus_metrics.ts";
import { serviceMetrics } from "../monitoring/metrics.ts";
import { readConfig } from "../../core/settings/config.ts";
import { openSpool } from "../http/open_spool.ts";
import { composeService } from "./compose_service.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

Deno.test("composeService() writes into the ledger what still waits in the spool", async () => {
  await using folder = await temporaryFolder();
  const directory = `${folder.path}/ledger.db-spool`;
  const metrics = serviceMetrics({
    prometheus: new PrometheusMetrics(),
    time: Date.now,
  });
  const log = () => {};

  const config = readConfig(() => undefined, {
    databaseUrl: `file:${folder.path}/ledger.db`,
  });
  const ledger = await emptyLedger();
  await using _ = ledger;
  const run = async (sql: string) =>
    (await ledger.driver.batch([{ sql, args: [] }], "write"))[0]?.rows;
  await run("CREATE TABLE seen (place TEXT, process TEXT, waiting INTEGER)");
  await run(`CREATE TRIGGER seeing AFTER INSERT ON waiting BEGIN
      INSERT INTO seen VALUES (new.place, new.process, new.deliveries); END`);
  const spool = await openSpool(config, { log, metrics });
  assert(spool !== undefined);
  await Promise.all(Array.from({ length: 1_025 }, (_, n) =>
    spool.put({
      id: String(n).padStart(26, "0"),
      receivedAt: "2026-11-20T12:00:00.000Z",
      body: new TextEncoder().encode("{}"),
    })));
  const service = composeService({
    config,
    secrets: ["a-secret-of-32-random-characters"],
    ledger,
    log,
    metrics,
    now: Date.now,
    longLived: false,
    poll: false,
    spool,
  });
  await service[Symbol.asyncDispose]();
  const { events, waiting } = await ledger.stats();
  assert.equal(events.webhook, 1_025);
  assert.equal(waiting, null);
  const seen = await run("SELECT * FROM seen");
  assert.equal(seen?.length, 1);
  const [place, process, count] = seen?.[0] ?? [];
  assert.deepEqual([place, process], [directory, spool.writers.own]);
  assert.ok(Number(count) > 0 && Number(count) < 1_025, `${count}`);
});

Deno.test("Service.health() says since when events are not folded", async () => {
  await using ledger = await emptyLedger();
  let works = false;
  const unsteady = {
    driver: ledger.driver,
    environment: ledger.environment,
    appendDelivery: ledger.appendDelivery,
    recordUnanswered: ledger.recordUnanswered,
    lag: () => ledger.lag(),
    historic: () => ledger.historic(),
    project: () =>
      works ? ledger.project() : Promise.reject(new Error("No room")),
  } as unknown as Ledger;
  await using service = composeService({
    config: readConfig(() => undefined, { databaseUrl: ":memory:" }),
    secrets: ["a-secret-of-32-random-characters"],
    ledger: unsteady,
    log: () => {},
    metrics: serviceMetrics({ time: Date.now }),
    now: Date.now,
    longLived: true,
    poll: false,
  });
  const notFolded = async () =>
    (await service.health()).find(({ code }) => code === "events_not_folded");
  await until(async () => await notFolded() !== undefined);
  assert.match(String((await notFolded())?.since), /Z$/);
  works = true;
  await until(async () => await notFolded() === undefined);
});
