import assert from "node:assert/strict";
import { tryMutation } from "./mutation_table.ts";
import { MUTATIONS } from "./mutations.ts";

Deno.test("the table breaks a dozen rules and more, each once", () => {
  assert.ok(MUTATIONS.length >= 12);
  assert.equal(
    new Set(MUTATIONS.map(({ name }) => name)).size,
    MUTATIONS.length,
  );
});

for (const mutation of MUTATIONS) {
  Deno.test(`the simulator notices who would ${mutation.name}`, async () => {
    const { seed, rule } = await tryMutation(mutation);
    assert.notEqual(seed, null, `not within ${mutation.within} seeds`);
    // What the broken rule leads to is seen, and not that something threw.
    assert.notEqual(rule, "the simulation itself");
  });
}
