import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { sbom } from "./sbom.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(
  /\/$/,
  "",
);

/** What the test reads of a list. */
interface Listed {
  bomFormat: string;
  specVersion: string;
  components: {
    name: string;
    version: string;
    purl: string;
    hashes?: { alg: string; content: string }[];
    licenses?: { expression?: string }[];
  }[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

Deno.test("sbom() lists what a dependency brings with it, with version, hash and licence", async () => {
  const own = { name: "@rampkit/onramp", version: "1.2.3" };
  const text = await sbom(root, own, { "@hono/node-server": "^2.1.8" });
  const listed: Listed = JSON.parse(text);
  assert.deepEqual([listed.bomFormat, listed.specVersion], [
    "CycloneDX",
    "1.6",
  ]);
  const names = listed.components.map(({ name }) => name);
  assert.deepEqual(names, ["@hono/node-server", "hono"]);
  for (const { name, version, purl, hashes, licenses } of listed.components) {
    assert.equal(purl, `pkg:npm/${name.replace("@", "%40")}@${version}`);
    assert.equal(hashes?.[0]?.alg, "SHA-512");
    assert.match(hashes?.[0]?.content ?? "", /^[0-9a-f]{128}$/);
    assert.equal(licenses?.[0]?.expression, "MIT");
  }
  const [server, hono] = listed.components.map(({ name }) =>
    listed.dependencies.find(({ ref }) => ref.startsWith(`${name}@`))
  );
  assert.deepEqual(server?.dependsOn, [hono?.ref]);
  const product = listed.dependencies.find(({ ref }) =>
    ref === "@rampkit/onramp@1.2.3"
  );
  assert.deepEqual(product?.dependsOn, [server?.ref]);
});
