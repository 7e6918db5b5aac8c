import assert from "node:assert/strict";

const root = new URL("../..", import.meta.url);

/**
 * What each door exports, as written down in `exports.json`. A name that comes
 * or goes is a change of the published interface: run
 * `RAMPKIT_WRITE_EXPORTS=1 deno task test tests/house/exports_test.ts`, look at the
 * difference, and say it in the CHANGELOG.
 */
Deno.test("the doors export what is written down, and nothing else", async () => {
  const config = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const found: Record<string, string[]> = {};
  for (const [name, path] of Object.entries<string>(config.exports)) {
    found[name] = await exported(path);
  }
  // The names within `LedgerTypes`.
  found["./ledger LedgerTypes"] = await exported("ledger/types.ts");
  const file = new URL("tests/house/exports.json", root);
  const text = `${JSON.stringify(found, null, 2)}\n`;
  if (Deno.env.get("RAMPKIT_WRITE_EXPORTS") === "1") {
    await Deno.writeTextFile(file, text);
  }
  assert.deepEqual(found, JSON.parse(await Deno.readTextFile(file)));
});

Deno.test("the door ./ledger has at most a hundred names", async () => {
  const names = await exported("ledger/mod.ts");
  assert.ok(names.length <= 100, `${names.length} names`);
});

Deno.test("every door and every folder's door opens with a tour", async () => {
  const config = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  for (const path of Object.values<string>(config.exports)) {
    const text = await Deno.readTextFile(new URL(path, root));
    assert.match(text, /^(?:#!.*\n)?\/\*\*[\s\S]*?@module/, path);
  }
});

async function exported(path: string): Promise<string[]> {
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: ["doc", "--json", path],
    cwd: root,
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout));
  const modules: Record<string, { symbols: { name: string }[] }> = nodes;
  const names = Object.values(modules).flatMap(({ symbols }) =>
    symbols.map(({ name }) => name)
  );
  return [...new Set(names)].sort();
}
