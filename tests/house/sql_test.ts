import assert from "node:assert/strict";
import { importsOf } from "../kit/imports.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

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

/**
 * What a table may import of ours: what a database is, other tables, and the
 * folders that say what a value means. None of these decides anything.
 */
const PLAIN =
  /^(core\/|ledger\/(machines|events|hashes)\/|ledger\/store\/(driver|tables)\/)/;

Deno.test("tables import plain types of ours only, and no rule", async () => {
  const wrong: string[] = [];
  let looked = 0;
  for (const { file, target } of await importsOf(root)) {
    if (!file.startsWith("ledger/store/tables/") || isTestFile(file)) continue;
    looked++;
    if (!PLAIN.test(target)) wrong.push(`${file} imports ${target}`);
  }
  assert.ok(looked > 50);
  assert.deepEqual(wrong, []);
});
