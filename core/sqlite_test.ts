import assert from "node:assert/strict";
import { isSafeSqlite, Sqlite, SqliteError, sqliteVersion } from "./sqlite.ts";

Deno.test("isSafeSqlite() says yes from 3.51.3 on", () => {
  for (const version of ["3.51.3", "3.51.10", "3.52.0", "4.0.0"]) {
    assert.equal(isSafeSqlite(version), true, version);
  }
  for (const version of ["3.45.1", "3.51.2", "3.9.99", "2.60.4", ""]) {
    assert.equal(isSafeSqlite(version), false, version);
  }
  assert.equal(isSafeSqlite(sqliteVersion()), true);
});

Deno.test("Sqlite names each refusal by its code, prepared or not", () => {
  using database = new Sqlite(":memory:");
  database.exec("CREATE TABLE t (a INTEGER NOT NULL UNIQUE) STRICT");
  const codes: [work: () => void, code: string][] = [
    [() => database.exec("INSERT INTO t VALUES (NULL)"), "SQLITE_CONSTRAINT"],
    [() => database.all("INSERT INTO t VALUES (NULL)"), "SQLITE_CONSTRAINT"],
    [() => database.exec("INSERT INTO t VALUES ('x')"), "SQLITE_CONSTRAINT"],
    [() => new Sqlite("/nowhere/x.db"), "SQLITE_CANTOPEN"],
    [() => database.exec("NO SQL"), "SQLITE_ERROR"],
  ];
  for (const [work, code] of codes) {
    assert.throws(work, (error) => {
      assert.ok(error instanceof SqliteError, String(error));
      assert.equal(error.code, code);
      return true;
    });
  }
});

Deno.test("Sqlite binds integers as integers, and fractions as fractions", () => {
  using database = new Sqlite(":memory:");
  const sql = "SELECT typeof(?), typeof(?), ?";
  assert.deepEqual(database.all(sql, [7, 7.5, 2 ** 53 - 1]), [
    ["integer", "real", 2 ** 53 - 1],
  ]);
});
