import assert from "node:assert/strict";
import { AppendWatch } from "./append_watch.ts";

const delivery = {
  id: "01JD3Q5XK6T0V0QK3WZ5R5Q0ZV",
  receivedAt: "2026-11-20T12:00:00.000Z",
  body: new Uint8Array(),
};

Deno.test("AppendWatch names the problem until an append succeeds, or a minute has gone by", async () => {
  let nowMs = 0;
  let failing = true;
  const watch = new AppendWatch(() => nowMs);
  const append = watch.watching(() =>
    failing ? Promise.reject(new Error("The disk is full")) : Promise.resolve()
  );
  assert.equal(watch.problem, null);
  await assert.rejects(append(delivery), /The disk is full/);
  nowMs = 59_999;
  assert.equal(watch.problem, "The disk is full");
  nowMs = 60_000;
  assert.equal(watch.problem, null);
  await assert.rejects(append(delivery));
  assert.equal(watch.problem, "The disk is full");
  failing = false;
  await append(delivery);
  assert.equal(watch.problem, null);
});
