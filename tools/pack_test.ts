import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { packageJson, pages } from "./pack.ts";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

Deno.test("packageJson() names doors, program and packages", () => {
  const packed = packageJson(["hono", "big.js"]);
  assert.partialDeepStrictEqual(packed.exports, {
    ".": { types: "./mod.d.ts", default: "./mod.js" },
    "./client": { types: "./client/mod.d.ts", default: "./client/mod.js" },
    "./deploy": "./deploy_elsewhere.js",
  });
  assert.deepEqual(packed.bin, { rampkit: "./cli/main.js" });
  // A bundler drops what has no side effects; the program has nothing else.
  assert.ok((packed.sideEffects as string[]).includes("./cli/main.js"));
  assert.deepEqual(Object.keys(packed.dependencies), [
    "@types/big.js",
    "big.js",
    "hono",
  ]);
  assert.ok((packed.keywords as string[]).includes("onramp"));
});

Deno.test("packageJson() refuses a package that deno.json does not name", () => {
  assert.throws(
    () => packageJson(["left-pad"]),
    /^TypeError: Cannot pack: left-pad is not among the imports$/,
  );
});

/** Links of a page, without addresses of the web and places in itself. */
function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:|#)([^)\s]+)\)/g)]
    .map(([, target = ""]) => target);
}

Deno.test("pages() leads from README to every guide, and no link of a page leads nowhere", async () => {
  const found = await pages(root);
  for (
    const page of ["CHANGELOG.md", "SECURITY.md", "docs/guides/postgres.md"]
  ) {
    assert.ok(found.includes(page), page);
  }
  for (const page of found.filter((path) => path.endsWith(".md"))) {
    const text = await Deno.readTextFile(`${root}/${page}`);
    for (const link of linksOf(text)) {
      const [path = "", place] = link.split("#");
      const target = join(dirname(page), path);
      assert.ok((await Deno.stat(`${root}/${target}`)).isFile, link);
      assert.ok(found.includes(target), `${page}: ${link} is not packed`);
      if (place === undefined) continue;
      const headings = (await Deno.readTextFile(`${root}/${target}`))
        .matchAll(/^#+ (.+)$/gm);
      const places = [...headings].map(([, heading = ""]) =>
        heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-")
      );
      assert.ok(places.includes(place), `${page}: ${link}`);
    }
  }
});

Deno.test("what is published for Deno holds every page that README leads to", async () => {
  for (const page of await pages(root)) {
    const isLeftOut = config.publish.exclude.some((path) =>
      page === path || page.startsWith(`${path}/`)
    );
    assert.ok(!isLeftOut, page);
  }
});
