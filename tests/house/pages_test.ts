import assert from "node:assert/strict";
import ts from "typescript";
import { API_ROUTES } from "../../server/api/api_app.ts";
import { pages } from "../../tools/pack.ts";
import { readGuide } from "../guides/guide.ts";
import config from "../../deno.json" with { type: "json" };

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const read = (page: string) => Deno.readTextFile(`${root}/${page}`);
const PACKAGE = "@rampkit/onramp";

/** The names of each door that `exports` shows, by its path. */
const doors = new Map<string, readonly string[]>();
for (const [door, path] of Object.entries(config.exports)) {
  doors.set(door, await namesOf(path));
}

Deno.test("every program of a page is valid, and imports only what our doors export", async () => {
  let looked = 0;
  for (const page of await pages(root)) {
    if (!page.endsWith(".md")) continue;
    for (const [path, text] of (await readGuide(page)).files) {
      if (!/\.(mjs|js|ts)$/.test(path)) continue;
      looked++;
      const { diagnostics } = ts.transpileModule(text, {
        fileName: path.replace(/\.m?js$/, ".jsx"),
        reportDiagnostics: true,
        compilerOptions: { allowJs: true, jsx: ts.JsxEmit.Preserve },
      });
      assert.deepEqual(diagnostics?.map(({ messageText }) => messageText), []);
      const imports = text.matchAll(/import \{([^}]*)\} from "([^"]+)"/g);
      for (const [, names = "", from = ""] of imports) {
        if (!from.startsWith(PACKAGE)) continue;
        const door = doors.get(from.replace(PACKAGE, ".")) ?? [];
        const listed = names.split(",").map((one) => one.trim());
        for (const name of listed.filter((one) => one !== "")) {
          assert.ok(
            door.includes(name.trimEnd()),
            `${page}: ${name} of ${from}`,
          );
        }
      }
    }
  }
  assert.ok(looked > 9, `${looked} programs were found`);
});

Deno.test("every request that a page makes with curl is one of the HTTP API", async () => {
  const wrong: string[] = [];
  let looked = 0;
  for (const page of await pages(root)) {
    if (!page.endsWith(".md")) continue;
    const text = (await read(page)).replaceAll("\\\n", " ");
    for (const [line] of text.matchAll(/^ *curl .*$/gm)) {
      const path = /127\.0\.0\.1:8789(\/[^"\s?]*)/.exec(line)?.[1];
      if (path === undefined) continue;
      looked++;
      const method = /-X (\w+)/.exec(line)?.[1] ?? "GET";
      const route = API_ROUTES.find((route) =>
        route.method === method &&
        new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path)
      );
      const body = /-d '([^']*)'/.exec(line)?.[1];
      const unknown = Object.keys(JSON.parse(body ?? "{}"))
        .filter((field) => !(field in (route?.body ?? {})));
      if (!route || unknown.length > 0) {
        wrong.push(`${page}: ${method} ${path} ${unknown}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(looked > 6, `${looked} requests were found`);
});

Deno.test("the page about running it shows an entry for Deno Deploy that leads to ours", async () => {
  const entry = /`export \{ default \} from "([^"]+)";`/
    .exec(await read("docs/operate.md"))?.[1];
  assert.equal(entry, `${PACKAGE}/deploy`);
  assert.ok(doors.get("./deploy")?.includes("default"));
});

async function namesOf(path: string): Promise<string[]> {
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: ["doc", "--json", path],
    cwd: root,
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout));
  const modules: Record<string, { symbols: { name: string }[] }> = nodes;
  return Object.values(modules).flatMap(({ symbols }) =>
    symbols.map(({ name }) => name)
  );
}
