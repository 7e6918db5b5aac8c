import assert from "node:assert/strict";
import { diffStates } from "./refold.ts";

Deno.test("diffStates() names the fields that differ, dotted", () => {
  const before = {
    a: 1,
    fees: { x: "1", y: "2" },
    list: ["p"],
  };
  const after = {
    a: 1,
    fees: { x: "1", y: "3" },
    list: ["p", "q"],
  };
  assert.deepEqual(diffStates(before, after), [
    { field: "fees.y", before: "2", after: "3" },
    { field: "list.1", before: null, after: "q" },
  ]);
});

Deno.test("diffStates() takes null, an empty list and a missing field for the same", () => {
  assert.deepEqual(diffStates({ a: null, b: [], c: {} }, {}), []);
});

Deno.test("diffStates() shows an entity that is new or gone with all its fields", () => {
  assert.deepEqual(diffStates(null, { a: true }), [
    { field: "a", before: null, after: "true" },
  ]);
  assert.deepEqual(diffStates({ a: true }, null), [
    { field: "a", before: "true", after: null },
  ]);
  assert.deepEqual(diffStates(null, null), []);
});
