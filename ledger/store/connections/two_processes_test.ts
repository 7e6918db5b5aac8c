import assert from "node:assert/strict";
import { temporaryFolder } from "../../../tests/kit/temporary_folder.ts";
import { isSafeSqlite } from "../../../core/sqlite.ts";
import { FileDriver } from "./file_driver.ts";
import { startProgram } from "../../testing/start_program.ts";
import { openDriver } from "../../thread/open_driver.ts";

Deno.test("commits stay while another process copies the log into the database without a pause", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  const url = `file:${path}`;
  const driver = await openDriver({ url, worker: false });
  await driver.batch([
    { sql: "CREATE TABLE t (a, b, c)", args: [] },
    { sql: "CREATE INDEX i ON t (c, a)", args: [] },
  ], "write");
  const other = startProgram("test_checkpoints.ts", path);
  const writer = startProgram("test_commits.ts", path, "1500");
  const { stdout, success } = await writer.output();
  const commits = Number(new TextDecoder().decode(stdout));
  other.kill("SIGKILL");
  await other.output();
  assert.ok(success);
  assert.equal(commits, 1500);
  const [rows, check, version] = await driver.batch([
    { sql: "SELECT count(*), count(DISTINCT b) FROM t", args: [] },
    { sql: "PRAGMA integrity_check", args: [] },
    { sql: "SELECT sqlite_version()", args: [] },
  ], "read");
  assert.deepEqual(rows?.rows, [[4 * commits, commits]]);
  assert.deepEqual(check?.rows, [["ok"]]);
  // Before 3.51.3 it fails in some runs alone.
  assert.ok(isSafeSqlite(String(version?.rows[0]?.[0])));
  await driver.close();
});

Deno.test("a runtime with an older SQLite is told so, and changes no file", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  const open = (version: string, options = {}) =>
    new FileDriver({ path, busyTimeoutMs: 50, version, ...options });
  const read = [{ sql: "SELECT count(*) FROM sqlite_schema", args: [] }];
  const old = open("3.51.2");
  await assert.rejects(
    old.batch(read, "read"),
    /Cannot write .*: this runtime's SQLite 3\.51\.2 can lose .* use Deno/,
  );
  await old.close();
  assert.deepEqual([...Deno.readDirSync(folder.path)], []);
  const first = open("3.51.3");
  await first.batch([{ sql: "CREATE TABLE t (a)", args: [] }], "write");
  await first.close();
  const reader = open("3.44.0", { readOnly: true });
  assert.deepEqual((await reader.batch(read, "read"))[0]?.rows, [[1]]);
  await reader.close();
});
