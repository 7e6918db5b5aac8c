import assert from "node:assert/strict";
import { until } from "../../tests/kit/until.ts";
import { LineQueue } from "./activity_printer.ts";

const skipped = (lines: number) => `${lines} left out`;

Deno.test("LineQueue.add() writes each line once, in order, and not at once", async () => {
  const written: string[] = [];
  const lines = new LineQueue({
    write: (text) => Promise.resolve(void written.push(text)),
    skipped,
  });
  lines.add(() => "one");
  lines.add(() => "two");
  assert.deepEqual(written, []);
  await lines.drain(60_000);
  lines.add(() => "three");
  await until(() => written.length === 2);
  assert.deepEqual(written, ["one\ntwo\n", "three\n"]);
});

Deno.test("LineQueue.add() leaves lines out and counts them while nobody reads", async () => {
  const written: string[] = [];
  const paused = Promise.withResolvers<void>();
  const lines = new LineQueue({
    write: async (text) => {
      written.push(text);
      await paused.promise;
    },
    skipped,
    most: 2,
  });
  lines.add(() => "one");
  await until(() => written.length === 1);
  let made = 0;
  for (let count = 0; count < 5; count++) {
    lines.add(() => {
      made++;
      return "more";
    });
  }
  // What a line tells of is not held while the reader pauses.
  await until(() => made === 2);
  await lines.drain(1);
  paused.resolve();
  await lines.drain(60_000);
  assert.deepEqual(written, ["one\n", "more\nmore\n3 left out\n"]);
});

Deno.test("LineQueue.add() goes on after a write that failed", async () => {
  const written: string[] = [];
  const lines = new LineQueue({
    write: (text) => {
      written.push(text);
      return Promise.reject(new Error("The reader is gone"));
    },
    skipped,
  });
  lines.add(() => "one");
  await lines.drain(60_000);
  lines.add(() => "two");
  await lines.drain(60_000);
  assert.deepEqual(written, ["one\n", "two\n"]);
});
