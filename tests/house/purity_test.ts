import assert from "node:assert/strict";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** What a pure file may not name: clock, chance, network, disk, process. */
const WORLD =
  /\bDeno\.|\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bMath\.random\b|\bcrypto\.(?:get|random|subtle)|\bfetch\(|\bsetTimeout\b|\bsetInterval\b|\bconsole\.|"node:fs|"node:process/;

/** Folders and files whose rules are to be read alone. */
const PURE = [
  /^core\/(?!waiting\/|serving\/)/,
  /^ledger\/(anomalies|explain|machines|orders|users)\//,
  /^ledger\/months\/(?!close_month|month_close|stored_months|months)/,
  /^ledger\/events\/(?!mint|digest|derive)/,
];

Deno.test("pure files name no clock, no chance and no I/O", async () => {
  const wrong: string[] = [];
  let looked = 0;
  for (const file of await sourceFiles(root)) {
    if (isTestFile(file) || !PURE.some((pure) => pure.test(file))) continue;
    looked++;
    const text = await Deno.readTextFile(`${root}/${file}`);
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
    for (const line of code.split("\n")) {
      if (WORLD.test(line)) wrong.push(`${file}: ${line.trim()}`);
    }
  }
  assert.ok(looked > 10, `only ${looked} files were looked at`);
  assert.deepEqual(wrong, []);
});

/** The one file of theirs that is for Deno alone. */
const DENO_SERVER = "core/serving/_deno_server.ts";

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
