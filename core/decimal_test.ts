import assert from "node:assert/strict";
import fc from "fast-check";
import { decimalOfUnits, unitsOfDecimal } from "./decimal.ts";

const decimals = fc.integer({ min: 0, max: 18 });

Deno.test("decimalOfUnits() and unitsOfDecimal() are each other's inverse", () => {
  fc.assert(fc.property(fc.bigInt(), decimals, (units, places) => {
    assert.equal(unitsOfDecimal(decimalOfUnits(units, places), places), units);
  }));
});

Deno.test("decimalOfUnits() writes no trailing zero", () => {
  fc.assert(fc.property(fc.bigInt(), decimals, (units, places) => {
    assert.match(decimalOfUnits(units, places), /^-?\d+(\.\d*[1-9])?$/);
  }));
  assert.equal(decimalOfUnits(0n, 18), "0");
  assert.equal(decimalOfUnits(1n, 18), "0.000000000000000001");
});
