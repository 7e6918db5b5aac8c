import assert from "node:assert/strict";
import { isIdentifier, LONGEST_IDENTIFIER } from "./identifier.ts";

Deno.test("isIdentifier() takes texts of 1 to 256 characters", () => {
  assert.equal(LONGEST_IDENTIFIER, 256);
  for (const text of ["a", "..", " ", "é".repeat(256), "x".repeat(256)]) {
    assert.equal(isIdentifier(text), true, text.slice(0, 3));
  }
  assert.equal(isIdentifier("x".repeat(257)), false);
});

Deno.test("isIdentifier() refuses what a database would not give back", () => {
  for (const value of ["", "a\0b", "\ud800", null, undefined, 7, ["a"]]) {
    assert.equal(isIdentifier(value), false, JSON.stringify(value));
  }
});
