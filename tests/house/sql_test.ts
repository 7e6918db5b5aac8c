import assert from "node:assert/strict";
import { sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/**
 * Where statements may stand: beside their tables, in tests and benchmarks, and
 * where an empty database is a lock.
 */
const allowed =
  /^(ledger\/(store|testing)\/|tests\/|bench\/|webhooks\/spool\/segment_lock\.ts$|.*_test\.ts$)/;

const statement =
  /["'`(]\s*(SELECT [^.]*|INSERT (OR REPLACE )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE (TABLE|INDEX)|WITH RECURSIVE|PRAGMA) /;

Deno.test("SQL stands in ledger/store, beside the tables it reads", async () => {
  const found: string[] = [];
  for (const file of await sourceFiles(root)) {
    if (allowed.test(file)) continue;
    const text = await Deno.readTextFile(`${root}/${file}`);
    if (statement.test(text)) found.push(file);
  }
  assert.deepEqual(found, []);
});
