import process from "node:process";
import assert from "node:assert/strict";
import { processIo, SAME_PRESS_MS, stopSignals } from "./process_io.ts";

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

Deno.test("processIo() lets the work go on when the reader of what the runtime prints has left", () => {
  const before = new Map(
    [process.stdout, process.stderr].map((stream) => [
      stream,
      stream.listeners("error"),
    ]),
  );
  const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  try {
    processIo();
    for (const stream of before.keys()) {
      assert.ok(stream.emit("error", gone), "somebody hears it");
      assert.throws(() => stream.emit("error", new Error("disk")), /disk/);
    }
  } finally {
    process.removeAllListeners("SIGINT");
    process.removeAllListeners("SIGTERM");
    for (const [stream, listeners] of before) {
      stream.removeAllListeners("error");
      for (const one of listeners) {
        stream.on("error", one as (error: Error) => void);
      }
    }
  }
});
