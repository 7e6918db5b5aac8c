import { createClient } from "@libsql/client";
import assert from "node:assert/strict";
import { orderWebhook } from "./projection_test_kit.ts";
import { openLedger } from "../open_ledger.ts";
import { patient } from "./patient.ts";
import { sqldAvailable, startSqld } from "./sqld_test_server.ts";
import type { Driver } from "../store/database.ts";
import { failsWith } from "./fails_with.ts";
import { SCHEMA_VERSION } from "../store/schema.ts";
import { openClient } from "../store/connections/client_driver.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

const run = (driver: Driver, sql: string, mode: "read" | "write" = "write") =>
  driver.batch([{ sql, args: [] }], mode);

async function count(driver: Driver): Promise<unknown> {
  const [result] = await run(driver, "SELECT count(*) FROM t");
  return result?.rows[0]?.[0];
}

for (const journal of ["delete", "wal"]) {
  Deno.test(`openClient() goes on after SQLITE_BUSY, and commits what it answers (journal mode ${journal})`, async () => {
    await using folder = await temporaryFolder();
    const url = `file:${folder.path}/ledger.db`;
    const [client, holder] = [createClient({ url }), createClient({ url })];
    await client.execute(`PRAGMA journal_mode = ${journal}`);
    await client.execute("CREATE TABLE t (a)");
    const driver = await openClient({ client, busyLimitMs: 0 });
    const lock = await holder.transaction("write");
    await lock.execute("INSERT INTO t VALUES (0)");
    const sql = "INSERT INTO t VALUES (1)";
    for (const _ of [1, 2]) {
      await assert.rejects(run(driver, sql), failsWith("busy"));
    }
    await lock.rollback();
    holder.close();
    for (const _ of [1, 2]) await run(driver, sql);
    await driver.close();
    client.close();
    const reader = createClient({ url });
    assert.equal(
      await count(await openClient({ client: reader, readOnly: true })),
      2,
    );
    reader.close();
  });
}

Deno.test("openClient() refuses an old engine beside others, and warns of it alone", async () => {
  await using folder = await temporaryFolder();
  const url = `file:${folder.path}/ledger.db`;
  const program = import.meta.resolve("./test_checkpoints.ts");
  const other = new Deno.Command("deno", {
    args: ["run", "--no-check", "-A", program, `${folder.path}/ledger.db`],
    stdout: "piped",
  }).spawn();
  // It has the file open once it says so.
  const said = other.stdout.getReader();
  await said.read();
  const client = createClient({ url });
  await assert.rejects(openClient({ client }), (error) => {
    assert.match(String(error), /SQLite 3\.45\.\d+ can lose .* stop that one/);
    return failsWith("busy")(error);
  });
  other.kill("SIGKILL");
  while (!(await said.read()).done);
  await other.status;
  client.close();
  const told: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => told.push(text);
  const alone = createClient({ url: `file:${folder.path}/alone.db` });
  const driver = await openClient({ client: alone });
  console.warn = warn;
  assert.match(
    told.join(),
    /^rampkit: The client's SQLite 3\.45\.\d+ can lose/,
  );
  await run(driver, "CREATE TABLE t (a)");
  assert.equal(await count(driver), 0);
  await driver.close();
  alone.close();
});

Deno.test("openClient() runs batches one after the other, so that none ends when another fails", async () => {
  await using folder = await temporaryFolder();
  const client = createClient({ url: `file:${folder.path}/ledger.db` });
  const driver = await openClient({ client });
  const fails = (at: number) => at % 20 === 0;
  const batches = await Promise.allSettled(
    Array.from(
      { length: 100 }, // More than the client has connections.
      (_, at) => run(driver, fails(at) ? "NO SQL" : "SELECT 1"),
    ),
  );
  assert.deepEqual(
    batches.map(({ status }) => status),
    batches.map((_, at) => fails(at) ? "rejected" : "fulfilled"),
  );
  client.close();
});

Deno.test("openClient() refuses a client over WebSockets, and one that answers integers as texts", async () => {
  const socket = createClient({ url: "ws://127.0.0.1:9" });
  await assert.rejects(openClient({ client: socket }), /over ws: make it with/);
  const texts = createClient({ url: ":memory:", intMode: "string" });
  await assert.rejects(openClient({ client: texts }), /integers as texts/);
  const bigints = createClient({ url: ":memory:", intMode: "bigint" });
  const driver = await openClient({ client: bigints });
  assert.deepEqual((await run(driver, "SELECT 7"))[0]?.rows, [[7]]);
  for (const client of [socket, texts, bigints]) client.close();
});

Deno.test("openClient() gives up a server that never answers", async () => {
  const client = createClient({
    url: "http://127.0.0.1:9",
    fetch: () => new Promise(() => {}),
  });
  await assert.rejects(
    openClient({ client, timeoutMs: 10 }),
    failsWith("unreachable"),
  );
  client.close();
});

Deno.test("openClient() says closed when its client was closed", async () => {
  const client = createClient({ url: ":memory:" });
  const driver = await openClient({ client });
  client.close();
  await assert.rejects(run(driver, "SELECT 1"), failsWith("closed"));
});

/** Where a partner's client may lead. */
const places = {
  "in memory": () => ({ url: ":memory:" }),
  "of a file": (folder: string) => ({ url: `file:${folder}/ledger.db` }),
  "of a server": (folder: string) =>
    startSqld({ directory: `${folder}/server` }),
};

for (const [place, start] of Object.entries(places)) {
  const ignore = place === "of a server" && !sqldAvailable;

  Deno.test({
    name: `openLedger() keeps a ledger behind a client ${place}`,
    ignore,
    fn: async () => {
      await using folder = await temporaryFolder();
      const server = await start(folder.path);
      const client = createClient({ url: server.url });
      const open = () => openLedger({ client, ...patient, environment });
      const environment = "sandbox";
      const ledger = await open();
      const order = { type: "order_complete", orderId: "O1" };
      await ledger.append([orderWebhook("W1", 1, order)]);
      await ledger.project();
      await ledger.close();
      assert.equal(client.closed, false);
      const again = await open();
      assert.equal((await again.orders.get("O1"))?.status, "success");
      await assert.rejects(
        again.backup(`${folder.path}/copy.db`),
        /Cannot copy a ledger/,
      );
      await again.close();
      client.close();
      if ("stop" in server) await server.stop({ hard: true });
    },
  });

  Deno.test({
    name: `openClient() that only reads refuses every write (client ${place})`,
    ignore,
    fn: async () => {
      await using folder = await temporaryFolder();
      const server = await start(folder.path);
      const client = createClient({ url: server.url });
      await client.execute("CREATE TABLE t (a)");
      const driver = await openClient({ client, readOnly: true });
      for (
        const sql of [
          "INSERT INTO t VALUES (1)",
          "WITH u AS (SELECT 1) INSERT INTO t SELECT * FROM u",
          "CREATE TABLE u (a)",
        ]
      ) {
        await assert.rejects(run(driver, sql), failsWith("read_only"));
      }
      const reads = "WITH u AS (SELECT count(*) FROM t) SELECT * FROM u";
      assert.deepEqual((await run(driver, reads, "read"))[0]?.rows, [[0]]);
      const writer = await openClient({ client });
      await assert.rejects(
        run(writer, "DELETE FROM t", "read"),
        failsWith("read_only"),
      );
      await run(writer, "INSERT INTO t VALUES (1)");
      assert.equal(await count(driver), 1);
      client.close();
      if ("stop" in server) await server.stop({ hard: true });
    },
  });
}

for (const version of [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1]) {
  Deno.test(`openLedger() refuses a ledger of schema ${version} behind a client, and changes none of its bytes`, async () => {
    await using folder = await temporaryFolder();
    const path = `${folder.path}/ledger.db`;
    const url = `file:${path}`;
    const made = await openLedger({ url, environment: "sandbox" });
    await run(
      made.driver,
      `UPDATE ledger SET schema = ${version}`,
    );
    await made.close();
    const before = await Deno.readFile(path);
    const client = createClient({ url });
    await assert.rejects(openLedger({ client, environment: "sandbox" }), {
      code: "other_schema",
      message: /nothing was written/,
    });
    client.close();
    assert.deepEqual(await Deno.readFile(path), before);
  });
}
