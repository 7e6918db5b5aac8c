import assert from "node:assert/strict";
import { openDriver } from "../../connections/open_driver.ts";
import { migrate } from "../../migrate.ts";
import { migrations } from "../../migrations.ts";

Deno.test("migrate() moves what waits in the two queues of version 1 into one table", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const to = (version: number) =>
    migrate(driver, {
      migrations: migrations.slice(0, version),
      environment: "sandbox",
      now: () => 0,
    });
  await to(1);
  const [at, later] = ["2026-11-20T12:00:00.123Z", "2026-11-20T12:00:10.123Z"];
  const run = (sql: string, ...args: string[]) =>
    driver.batch([{ sql, args }], "write");
  await run(
    `INSERT INTO confirm_queue
      (entity, entity_id, known, ready, wanted_at, due_at)
    VALUES ('user', 'U1', 0, 1, ?1, ?2), ('order', 'O1', 1, 1, ?1, ?1)`,
    at,
    later,
  );
  await run(
    `INSERT INTO open_queue
      (entity, entity_id, known, ready, wanted_at, due_at, final_at)
    VALUES ('order', 'O1', 1, 1, ?1, ?2, ?1)`,
    at,
    later,
  );
  await run(
    `INSERT INTO observations (entity, entity_id, asked_at, read_at, digest,
      found, rest_ms, rest_until) VALUES ('order', 'O1', ?1, ?1, '', 1, 10000, ?2),
      ('order', 'O2', ?1, ?1, '', 1, 0, NULL)`,
    at,
    later,
  );
  await to(migrations.length);
  const [atMs, laterMs] = [Date.parse(at), Date.parse(later)];
  const [requests, rests, tables] = await driver.batch([
    {
      sql: `SELECT queue, entity, entity_id, urgency, known, wanted_at, due_at,
        final_at FROM requests ORDER BY seq`,
      args: [],
    },
    {
      sql: "SELECT entity_id, rests_until FROM observations ORDER BY entity_id",
      args: [],
    },
    {
      sql: "SELECT name FROM sqlite_schema WHERE name GLOB '*_queue*'",
      args: [],
    },
  ], "read");
  assert.deepEqual(requests?.rows.map((row) => [...row]), [
    [0, "user", "U1", 0, 0, atMs, laterMs, null],
    [0, "order", "O1", 0, 1, atMs, atMs, null],
    [1, "order", "O1", 0, 1, atMs, laterMs, atMs],
  ]);
  assert.deepEqual(rests?.rows.map((row) => [...row]), [
    ["O1", laterMs],
    ["O2", null],
  ]);
  assert.deepEqual(tables?.rows, []);
  await driver.close();
});
