import assert from "node:assert/strict";

const root = new URL("../../", import.meta.url);
const page = await Deno.readTextFile(new URL("READING.md", root));
const sections = page.split(/^## /m).slice(1);

Deno.test("READING.md says of each place what is taken, why, and what tells if it is wrong", () => {
  assert.ok(sections.length >= 13, `only ${sections.length} places`);
  for (const section of sections) {
    for (const part of ["We take", "Why", "If wrong", "Code"]) {
      assert.match(section, new RegExp(`^- ${part}: `, "m"), section);
    }
  }
});

Deno.test("READING.md names code that is there", async () => {
  for (const section of sections) {
    const named = /^- Code: `(\w+)`\s+in\s+`([\w/]+\.ts)`\.$/m.exec(section);
    assert.ok(named, section);
    const [, symbol = "", path = ""] = named;
    const code = await Deno.readTextFile(new URL(path, root));
    assert.match(code, new RegExp(`\\b${symbol}\\b`), `${symbol} in ${path}`);
  }
});

Deno.test("README and RUNBOOK lead to READING.md", async () => {
  for (const name of ["README.md", "RUNBOOK.md"]) {
    const text = await Deno.readTextFile(new URL(name, root));
    assert.ok(text.includes("(READING.md)"), name);
  }
});
