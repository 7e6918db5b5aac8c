import assert from "node:assert/strict";
import { barText } from "./output.ts";

Deno.test("barText() shows the share, the figures and the time", () => {
  const bar = (done: number, elapsedMs: number) =>
    barText({ label: "Moved", done, total: 8, elapsedMs, columns: 24 });
  assert.equal(bar(0, 0), "Moved ░░░░░░░░░░ 0/8 0s");
  assert.equal(bar(4, 59_999), "Moved █████░░░░ 4/8 59s");
  assert.equal(bar(8, 125_000), "Moved ████████ 8/8 2m5s");
});

Deno.test("barText() stays within the terminal, whatever the figures", () => {
  for (const columns of [0, 5, 20, 80, 300]) {
    for (const [done, total] of [[0, 0], [5, 3], [-1, 3], [1, 1e9]] as const) {
      const text = barText({ label: "Of", done, total, elapsedMs: 1, columns });
      assert.ok(text.length <= Math.max(columns - 1, 0), text);
    }
  }
});
