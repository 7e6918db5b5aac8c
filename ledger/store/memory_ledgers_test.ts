import assert from "node:assert/strict";
import { ledgerOn } from "../ledger_on.ts";
import type { Driver } from "./driver/driver.ts";
import { readStamp } from "./stamp.ts";
import { openMemoryLedger } from "./memory_ledgers.ts";

const OPTIONS = { environment: "sandbox", now: () => Date.UTC(2026, 0, 1) };

/** Every row of every table but the stamp, which is another each time. */
async function everyRow(driver: Driver): Promise<unknown> {
  const select = (sql: string) =>
    driver.batch([{ sql, args: [] }], "read").then(([only]) => only?.rows);
  const tables = await select(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'rampkit'",
  ) ?? [];
  return await Promise.all(
    tables.map(async ([name]) => [name, await select(`SELECT * FROM ${name}`)]),
  );
}

async function idOf(driver: Driver): Promise<string | undefined> {
  return (await readStamp(driver))?.ledgerId;
}

Deno.test("openMemoryLedger() gives the database of a ledger that was closed, as it was when it was new", async () => {
  const first = await openMemoryLedger(OPTIONS);
  const made = await everyRow(first);
  const ledger = await ledgerOn(first, { environment: "sandbox" });
  await ledger.goLive();
  await ledger.recordSession({ session_id: "s", reference: "basket-1" });
  await ledger.project();
  const idOfFirst = await idOf(first);
  await ledger.close();
  await assert.rejects(first.batch([], "read"), { code: "closed" });

  const second = await openMemoryLedger({
    environment: "production",
    now: () => Date.UTC(2027, 0, 1),
  });
  assert.deepEqual(await everyRow(second), made);
  const sql = "SELECT environment, created_at, go_live FROM rampkit";
  const [stamp] = await second.batch([{ sql, args: [] }], "read");
  assert.deepEqual(stamp?.rows, [[
    "production",
    "2027-01-01T00:00:00.000Z",
    null,
  ]]);
  assert.notEqual(await idOf(second), idOfFirst);
  // Another that is open at the same time has a database of its own.
  const third = await openMemoryLedger(OPTIONS);
  await third.close();
  await second.batch([{ sql: "SELECT 1", args: [] }], "read");
  await second.close();
});

Deno.test("openMemoryLedger() gives nobody a database whose tables somebody changed", async () => {
  const changed = await openMemoryLedger(OPTIONS);
  const sql = "CREATE TABLE of_one_test (number INTEGER)";
  await changed.batch([{ sql, args: [] }], "write");
  await changed.close();
  const next = await openMemoryLedger(OPTIONS);
  const found = "SELECT name FROM sqlite_schema WHERE name = 'of_one_test'";
  const [tables] = await next.batch([{ sql: found, args: [] }], "read");
  assert.deepEqual(tables?.rows, []);
  await next.close();
});
