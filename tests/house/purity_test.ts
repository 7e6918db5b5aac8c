import assert from "node:assert/strict";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** What a pure file may not name: clock, chance, network, disk, process. */
const WORLD =
  /\bDeno\.|\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bMath\.random\b|\bcrypto\.(?:get|random|subtle)|\bfetch\(|\bsetTimeout\b|\bsetInterval\b|\bconsole\.|"node:fs|"node:process/;

/** Modules whose files are pure unless they are named below. */
const PURE = /^(core|ledger|resources)\//;

/** Files of theirs that touch the world, or take the clock unless given one. */
const TOUCHES_WORLD = new Set([
  "core/serving/open_http_server.ts",
  "core/sqlite.ts",
  "core/waiting/waiting.ts",
  "ledger/evidence/anchor_file.ts",
  "ledger/ledger_on.ts",
  "ledger/months/months.ts",
  "ledger/open_ledger.ts",
  "ledger/projection/project.ts",
  "ledger/thread/database_thread.ts",
  "ledger/reads/orders.ts",
  "ledger/recording/notes.ts",
  "ledger/store/events.ts",
  "ledger/store/files.ts",
  "ledger/store/leases.ts",
  "ledger/subscriptions/dispatcher.ts",
  "ledger/projection/catch_up.ts",
  "ledger/store/connections/file_driver.ts",
  "ledger/thread/no_thread.ts",
  "ledger/store/connections/client_driver.ts",
  "ledger/store/database.ts",
]);

Deno.test("files name no clock, no chance and no I/O unless they are there for it", async () => {
  const wrong: string[] = [];
  const touching = new Set<string>();
  for (const file of await sourceFiles(root)) {
    if (isTestFile(file) || !PURE.test(file)) continue;
    const text = await Deno.readTextFile(`${root}/${file}`);
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
    for (const line of code.split("\n")) {
      if (!WORLD.test(line)) continue;
      touching.add(file);
      if (!TOUCHES_WORLD.has(file)) wrong.push(`${file}: ${line.trim()}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual([...TOUCHES_WORLD.difference(touching)], []);
});

/** The one file of theirs that is for Deno alone. */
const DENO_SERVER = "core/serving/open_http_server.ts";

Deno.test("modules without a server do not name Deno", async () => {
  const wrong: string[] = [];
  for (const file of await sourceFiles(root)) {
    if (isTestFile(file) || !/^(core|client|widget)\//.test(file)) continue;
    const text = await Deno.readTextFile(`${root}/${file}`);
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
    if (/\bDeno\./.test(code) && file !== DENO_SERVER) wrong.push(file);
  }
  assert.deepEqual(wrong, []);
});
