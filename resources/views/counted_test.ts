import assert from "node:assert/strict";
import { counted } from "./counted.ts";

Deno.test("counted() has one form for one and another for all else", () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, "order")),
    ["0 orders", "1 order", "2 orders"],
  );
});
