import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };

const root = new URL("../..", import.meta.url).pathname;

/** Every module that a door loads: our files, and what they name of npm. */
async function graph(door: string): Promise<string[]> {
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: ["info", "--json", door],
    cwd: root,
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const { roots, modules }: Graph = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const imported = new Map(modules.map((one) => [one.specifier, one]));
  // What only types are taken from is not loaded.
  const loaded = new Set(roots);
  for (const specifier of loaded) {
    for (const { code } of imported.get(specifier)?.dependencies ?? []) {
      if (code?.specifier !== undefined) loaded.add(code.specifier);
    }
  }
  return [...loaded].map((one) => one.replace(`file://${root}`, "/"));
}

/** As `deno info --json` prints it. */
interface Graph {
  readonly roots: readonly string[];
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
}

Deno.test("every door opens with a tour", async () => {
  for (const path of Object.values(config.exports)) {
    const text = await Deno.readTextFile(`${root}/${path}`);
    assert.match(text, /^(?:#!.*\n)?\/\*\*[\s\S]*?@module/, path);
  }
});

for (const door of ["client", "webhooks", "widget", "sandbox"]) {
  Deno.test(`the door ./${door} loads no database code`, async () => {
    const modules = await graph(`${door}/mod.ts`);
    assert.ok(modules.length > 5);
    assert.deepEqual(
      modules.filter((name) => /libsql|\/ledger\//.test(name)),
      [],
    );
  });
}

Deno.test("the door ./deploy loads no native code and needs no disk", async () => {
  const modules = await graph("server/deploy.ts");
  assert.ok(modules.length > 20);
  assert.deepEqual(
    modules.filter((name) => /npm:.*libsql/.test(name))
      .map((name) => name.replace(/@\^?[\d.]+/, "")),
    ["npm:/@libsql/client/web"],
  );
  assert.deepEqual(
    modules.filter((name) =>
      /worker_driver|file_driver|open_driver|spool_disk|backup/.test(name)
    ),
    [],
  );
});
