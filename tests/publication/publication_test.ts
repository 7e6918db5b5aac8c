import assert from "node:assert/strict";
import { freshProject, publish, type Ran } from "./fresh_project.ts";
import { openRegistry } from "./registry.ts";

/** Permissions that a ledger on a file needs, and no other. */
const PERMISSIONS = [
  "--allow-env",
  "--allow-sys",
  "--allow-read",
  "--allow-write",
];

Deno.test("a publication holds what runs and nothing that a registry refuses, and opens a ledger, also frozen and without a registry", async () => {
  await using registry = openRegistry();
  const { code, err } = await publish(registry);
  assert.equal(code, 0, err);
  assert.doesNotMatch(err, /unanalyzable|unable to analyze/);
  const paths = [...registry.files.keys()];
  assert.ok(paths.includes("/cli/main.ts"));
  assert.ok(paths.includes("/README.md"));
  assert.deepEqual(
    paths.filter((path) =>
      /_test\.ts$|_bench\.ts$|\w\/testing\/|^\/(?:tests|tools)\/|\.(?:css|js|lock)$/
        .test(path)
    ),
    [],
  );
  const texts = [...registry.files].filter(([path]) => path.endsWith(".ts"))
    .map(([path, bytes]) => [path, new TextDecoder().decode(bytes)] as const);
  assert.deepEqual(
    texts.filter(([, text]) => /\{ type: "(?:text|bytes)" \}/.test(text))
      .map(([path]) => path),
    [],
  );

  await using project = await freshProject(registry);
  const program = new URL("../runtimes/five_lines.mjs", import.meta.url);
  await Deno.copyFile(program, `${project.folder}/main.mjs`);
  // Fetches, and runs nothing: a file that only a thread names comes along.
  said(await project.deno(["install", "--quiet", "--entrypoint", "main.mjs"]));
  await registry.close();
  const order = said(
    await project.deno(
      ["run", "--frozen", "--cached-only", ...PERMISSIONS, "main.mjs"],
    ),
  );
  assert.equal(JSON.parse(order).trust, "confirmed");
  assert.ok((await Deno.stat(`${project.folder}/five.db`)).isFile);
});

function said({ code, out, err }: Ran): string {
  assert.equal(code, 0, err);
  return out;
}
