import assert from "node:assert/strict";
import { OUTCOME_WORDS } from "../../resources/wording/outcome.ts";
import { CONFORMANCE_ROWS } from "../../sync/check/conform.ts";
import { printedPages } from "../../tools/docs.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url);
/** Measured, and so written by the benchmark. */
const MEASURED = "benchmark.md";

Deno.test("what is printed into pages is what the tables of the program say, byte for byte", async () => {
  const pages = await printedPages();
  for (const { name } of Deno.readDirSync(new URL("docs/reference/", root))) {
    assert.ok(pages.has(`reference/${name}`) || name === MEASURED, name);
  }
  for (const [path, page] of pages) {
    const written = await Deno.readTextFile(new URL(`docs/${path}`, root));
    assert.equal(written, page, `${path}: run deno task docs`);
    assert.equal(
      page.match(/<!-- printed: /g)?.length,
      page.match(/<!-- end -->/g)?.length,
    );
  }
  const page = await Deno.readTextFile(
    new URL("docs/how_we_read_the_service.md", root),
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
