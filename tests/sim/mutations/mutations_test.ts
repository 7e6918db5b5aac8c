import assert from "node:assert/strict";
import { MUTATIONS } from "./mutations.ts";

Deno.test("the table breaks a dozen rules and more, each once", () => {
  assert.ok(MUTATIONS.length >= 12);
  assert.equal(
    new Set(MUTATIONS.map(({ name }) => name)).size,
    MUTATIONS.length,
  );
});
