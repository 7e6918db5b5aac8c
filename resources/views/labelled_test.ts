import assert from "node:assert/strict";
import { labelled } from "./labelled.ts";

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
