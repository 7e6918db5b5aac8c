import assert from "node:assert/strict";
import { counted, labelled, wrap } from "./text.ts";

Deno.test("counted() has one form for one and another for all else", () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, "order")),
    ["0 orders", "1 order", "2 orders"],
  );
});

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

Deno.test("labelled() keeps labels whole and leaves out what has no value", () => {
  assert.deepEqual(
    labelled([
      ["Click id", "a-click-id-that-is-longer-than-the-room"],
      ["Because", "the service shows that it was cancelled"],
      ["Nothing", null],
    ], 40),
    [
      "Click id       a-click-id-that-is-longer-than-the-room",
      "Because        the service shows that it\n" +
      "               was cancelled",
    ],
  );
});
