import assert from "node:assert/strict";
import { passedOn } from "./shop.ts";

Deno.test("a program of a guide finds the cache that DENO_DIR names, and sees no other setting", () => {
  const variables = new Map([
    ["PATH", "/bin"],
    ["DENO_DIR", "/deno-dir"],
    ["RAMPKIT_API_KEY", "key"],
  ]);
  assert.deepEqual(passedOn((name) => variables.get(name)), {
    PATH: "/bin",
    DENO_DIR: "/deno-dir",
  });
});
