import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { homepage, packageJson, repository } from "./package_json.ts";
import { DEPLOY_FILE, PROGRAM_FILE } from "./packed_files.ts";

Deno.test("packageJson() names doors, program and packages, and no address that is not known", () => {
  const doors = new Map([[".", "mod.ts"], ["./client", "client/mod.ts"]]);
  const packed = packageJson(config, doors, new Set(["hono", "big.js"]));
  assert.deepEqual(packed.exports, {
    ".": { types: "./mod.d.ts", default: "./mod.js" },
    "./client": { types: "./client/mod.d.ts", default: "./client/mod.js" },
    "./deploy": `./${DEPLOY_FILE}`,
  });
  assert.deepEqual(packed.bin, { rampkit: `./${PROGRAM_FILE}` });
  // A bundler drops what has no side effects; the program has nothing else.
  assert.ok((packed.sideEffects as string[]).includes(`./${PROGRAM_FILE}`));
  assert.deepEqual(Object.keys(packed.dependencies), [
    "@types/big.js",
    "big.js",
    "hono",
  ]);
  assert.ok((packed.keywords as string[]).includes("onramp"));
  assert.equal("repository" in packed, repository !== "");
  assert.equal("bugs" in packed, repository !== "");
  assert.equal("homepage" in packed, homepage !== "");
});

Deno.test("packageJson() refuses a package that deno.json does not name", () => {
  assert.throws(
    () => packageJson(config, new Map(), new Set(["left-pad"])),
    /^TypeError: Cannot pack: left-pad is not among the imports$/,
  );
});
