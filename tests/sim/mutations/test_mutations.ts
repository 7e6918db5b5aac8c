import assert from "node:assert/strict";
import type { Mutation } from "./mutation.ts";
import { tryMutation } from "./mutation_table.ts";

/** What was broken may be what a simulation waits for. */
const PATIENCE_MS = 20 * 60_000;

/** One test for each rule broken on purpose: somebody must notice. */
export function testMutations(mutations: readonly Mutation[]): void {
  for (const mutation of mutations) {
    Deno.test({
      name: `the simulator notices who would ${mutation.name}`,
      timeout: PATIENCE_MS,
      fn: async () => {
        const { seed, rule, done } = await tryMutation(mutation);
        assert.ok(done > 0, "what is done wrong was never done");
        assert.notEqual(seed, null, `not within ${mutation.within} seeds`);
        // What the broken rule leads to is seen, and not that something threw.
        assert.notEqual(rule, "the simulation itself");
      },
    });
  }
}
