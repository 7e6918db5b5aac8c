import assert from "node:assert/strict";
import { spoolDirectory } from "./spool_directory.ts";

Deno.test("spoolDirectory() is beside the file that the ledger opens, however it is written", () => {
  for (
    const [databaseUrl, expected] of [
      ["file:rampkit.db", "rampkit.db-spool"],
      ["file:/data/my%20ledger.db", "/data/my ledger.db-spool"],
      ["file:///data/ledger.db", "/data/ledger.db-spool"],
      ["file://localhost/data/ledger.db", "/data/ledger.db-spool"],
      ["file::memory:", null],
      ["libsql://ledger.example", null],
    ] as const
  ) {
    assert.equal(spoolDirectory({ spoolDir: null, databaseUrl }), expected);
  }
});

Deno.test("spoolDirectory() is what was said", () => {
  assert.equal(
    spoolDirectory({ spoolDir: "/spool", databaseUrl: "file:a.db" }),
    "/spool",
  );
});
