import assert from "node:assert/strict";
import { SAME_PRESS_MS, stopSignals } from "./process_io.ts";

Deno.test("stopSignals() takes a Ctrl-C that comes twice for one, and a later one for the end", () => {
  const did: string[] = [];
  let now = 0;
  const signal = stopSignals({
    stop: () => did.push("stop"),
    end: () => did.push("end"),
    now: () => now,
  });

  signal();
  now = 1;
  signal();
  now = SAME_PRESS_MS - 1;
  signal();
  assert.deepEqual(did, ["stop"]);

  now = SAME_PRESS_MS;
  signal();
  assert.deepEqual(did, ["stop", "end"]);
});
