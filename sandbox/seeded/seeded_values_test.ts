import assert from "node:assert/strict";
import fc from "fast-check";
import { decimalOf, unitsOf, withPlaces } from "./seeded_values.ts";

const decimals = fc.integer({ min: 0, max: 18 });

Deno.test("decimalOf() and unitsOf() are each other's inverse", () => {
  fc.assert(fc.property(fc.bigInt(), decimals, (units, places) => {
    assert.equal(unitsOf(decimalOf(units, places), places), units);
  }));
});

Deno.test("decimalOf() writes no trailing zero", () => {
  fc.assert(fc.property(fc.bigInt(), decimals, (units, places) => {
    assert.match(decimalOf(units, places), /^-?\d+(\.\d*[1-9])?$/);
  }));
  assert.equal(decimalOf(0n, 18), "0");
  assert.equal(decimalOf(1n, 18), "0.000000000000000001");
});

Deno.test("unitsOf() refuses what is not a plain decimal", () => {
  for (const text of ["", "1e3", "abc", ".5", "1,5", "0x1"]) {
    assert.throws(() => unitsOf(text, 2), TypeError);
  }
});

Deno.test("withPlaces() keeps the value", () => {
  assert.equal(withPlaces("10", 2), "10.00");
  assert.equal(withPlaces("10.5", 2), "10.50");
  assert.equal(withPlaces("10.123", 2), "10.123");
});
