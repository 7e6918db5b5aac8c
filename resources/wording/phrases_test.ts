import assert from "node:assert/strict";
import { span } from "./phrases.ts";

Deno.test("span() speaks in the unit a person would use", () => {
  const minute = 60_000;
  for (
    const [ms, text] of [
      [80, "80 ms"],
      [4200, "4 s"],
      [3 * minute, "3 min"],
      [5 * 60 * minute, "5 h"],
      [-9 * 24 * 60 * minute, "9 days"],
    ] as const
  ) assert.equal(span(ms), text);
});
