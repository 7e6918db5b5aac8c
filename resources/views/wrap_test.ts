import assert from "node:assert/strict";
import { wrap } from "./wrap.ts";

Deno.test("wrap() breaks at single spaces and hangs what follows", () => {
  assert.equal(
    wrap("  failed: there is no room left", 18),
    "  failed: there is\n  no room left",
  );
  assert.equal(wrap("one two  three", 10, 4), "one\n    two  three");
});

Deno.test("wrap() never cuts a word, and breaks nothing without a terminal", () => {
  const hash = "a".repeat(64);
  assert.equal(wrap(`Hash ${hash}`, 40, 2), `Hash\n  ${hash}`);
  assert.equal(wrap(hash, 40), hash);
  assert.equal(wrap(`Hash ${hash}`, null), `Hash ${hash}`);
});
