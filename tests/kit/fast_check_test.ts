import assert from "node:assert/strict";
import fc from "fast-check";
import { isThorough } from "./thorough.ts";

Deno.test("laws are tried with the same values in every run, and with others where they are tried thoroughly", () => {
  const drawn = () => fc.sample(fc.integer(), 20);
  if (isThorough) assert.notDeepEqual(drawn(), drawn());
  else assert.deepEqual(drawn(), drawn());
});
