import assert from "node:assert/strict";
import { ASSUMPTIONS } from "../../core/assumptions/assumptions.ts";
import { readingSections } from "../../resources/views/reading_view.ts";

const root = new URL("../../", import.meta.url);
const file = new URL("READING.md", root);
const page = await Deno.readTextFile(file);

/** What the page has above the places. */
const head = page.slice(0, page.indexOf("\n## ") + 1);

Deno.test("READING.md is printed from the table of assumptions", async () => {
  const printed = head + readingSections();
  if (Deno.env.get("RAMPKIT_WRITE_TABLES") === "1") {
    await Deno.writeTextFile(file, printed);
  } else {
    assert.equal(
      page,
      printed,
      "run: RAMPKIT_WRITE_TABLES=1 deno task test tests/house/reading_test.ts",
    );
  }
});

Deno.test("each assumption about the service names code that is there", async () => {
  const wrong: string[] = [];
  for (const [name, { code: [symbol, path] }] of Object.entries(ASSUMPTIONS)) {
    const code = await Deno.readTextFile(new URL(path, root)).catch(() => "");
    if (!new RegExp(`\\b${symbol}\\b`).test(code)) {
      wrong.push(`${name}: ${symbol} in ${path}`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("README and RUNBOOK lead to READING.md", async () => {
  for (const name of ["README.md", "RUNBOOK.md"]) {
    const text = await Deno.readTextFile(new URL(name, root));
    assert.ok(text.includes("(READING.md)"), name);
  }
});
