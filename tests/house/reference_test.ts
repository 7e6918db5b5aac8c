import assert from "node:assert/strict";
import { OUTCOME_WORDS } from "../../resources/wording/outcome.ts";
import { PAGES } from "../../tools/docs/main.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url);
const folder = new URL("docs/reference/", root);

/** Measured, and so written by the benchmark. */
const MEASURED = "benchmark.md";

Deno.test("docs/reference/ is what the tables of the program print, byte for byte", async () => {
  const written = new Map<string, string>();
  for await (const { name } of Deno.readDir(folder)) {
    if (name === MEASURED) continue;
    written.set(name, await Deno.readTextFile(new URL(name, folder)));
  }
  const printed = Object.entries(PAGES).map(([name, page]) =>
    [name, page()] as const
  );
  for (const [name, text] of printed) {
    assert.equal(written.get(name), text, `${name}: run deno task docs`);
  }
  assert.deepEqual([...written.keys()].sort(), Object.keys(PAGES).sort());
});

Deno.test("no sentence of a row of the tables stands twice in the sources", async () => {
  const sentences = new Set(
    Object.values(OUTCOME_WORDS)
      .flatMap(({ next, customer }) => [next, customer])
      .filter((sentence) => sentence !== null)
      .filter((sentence) => sentence.length > 30),
  );
  assert.ok(sentences.size > 40);
  const places = new Map<string, string[]>();
  for await (const { path, text } of sources()) {
    const joined = text.replaceAll(/["`]\s*\+\s*["`]/g, "");
    for (const sentence of sentences) {
      const times = joined.split(sentence).length - 1;
      for (let n = 0; n < times; n++) {
        places.set(sentence, [...places.get(sentence) ?? [], path]);
      }
    }
  }
  const repeated = [...places].filter(([, paths]) => paths.length > 1);
  assert.deepEqual(repeated, []);
});

/** Every source that is no test, with its text. */
async function* sources() {
  const folder = root.pathname.replace(/\/$/, "");
  for (const path of await sourceFiles(folder)) {
    if (isTestFile(path)) continue;
    yield { path, text: await Deno.readTextFile(`${folder}/${path}`) };
  }
}
