import assert from "node:assert/strict";
import { isIdentifier, isRequestable, LONGEST_IDENTIFIER } from "./objects.ts";

Deno.test("isIdentifier() takes texts of 1 to 256 bytes in UTF-8", () => {
  assert.equal(LONGEST_IDENTIFIER, 256);
  for (const text of ["a", "..", " "]) {
    assert.equal(isIdentifier(text), true, text);
  }
  for (const character of ["x", "é", "界", "😀"]) {
    const bytes = new TextEncoder().encode(character).length;
    const longest = character.repeat(Math.floor(256 / bytes));
    assert.equal(
      isIdentifier(longest.padEnd(longest.length + 256 % bytes)),
      true,
    );
    assert.equal(isIdentifier(longest + character), false, character);
    assert.equal(
      isIdentifier(longest.padEnd(longest.length + 1 + 256 % bytes)),
      false,
    );
  }
});

Deno.test("isIdentifier() refuses what a database would not give back", () => {
  for (const value of ["", "a\0b", "\ud800", null, undefined, 7, ["a"]]) {
    assert.equal(isIdentifier(value), false, JSON.stringify(value));
  }
});

Deno.test("isRequestable() refuses ids that would not be one id in a request", () => {
  assert.equal(isRequestable("01HZXJ3K4M5N6P7Q8R9S0T1V2W"), true);
  assert.equal(isRequestable("x".repeat(128)), true);
  for (const id of ["", "a,b", "a b", "é", "a\n", "x".repeat(129)]) {
    assert.equal(isRequestable(id), false, id);
  }
});
