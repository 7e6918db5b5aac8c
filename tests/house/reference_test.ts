import assert from "node:assert/strict";
import { OUTCOME_WORDS } from "../../resources/wording/outcome.ts";
import { CONFORMANCE_ROWS } from "../../sync/conformance/rows.ts";
import { PAGES } from "../../tools/docs/main.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url);
const folder = new URL("docs/reference/", root);

/** Measured, and so written by the benchmark. */
const MEASURED = "benchmark.md";

Deno.test("the pages of reference, and the rows of how we read the service, are what the tables of the program print, byte for byte", async () => {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  const printed = Object.keys(PAGES).filter((name) => !name.startsWith(".."));
  assert.deepEqual(names.sort(), [MEASURED, ...printed].sort());
  for (const [name, page] of Object.entries(PAGES)) {
    const written = await Deno.readTextFile(new URL(name, folder));
    assert.equal(written, page(), `${name}: run deno task docs`);
  }
  const page = await Deno.readTextFile(
    new URL("../how_we_read_the_service.md", folder),
  );
  for (const { taken } of Object.values(CONFORMANCE_ROWS)) {
    assert.ok(page.replaceAll(/\s+/g, " ").includes(taken), taken);
  }
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
