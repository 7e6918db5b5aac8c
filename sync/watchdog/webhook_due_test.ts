import assert from "node:assert/strict";
import { webhookDueMs } from "./webhook_due.ts";

const minute = 60_000;
const startMs = Date.parse("2026-11-20T10:00:00.000Z");
const at = (minutes: number) => startMs + minutes * minute;
const moved = (minutes: number) => ({
  movedAt: new Date(at(minutes)).toISOString(),
  announced: false,
});

Deno.test("webhookDueMs() is the grace after the change while somebody listened", () => {
  assert.equal(webhookDueMs(moved(0), 6 * minute, []), at(6));
  const later = { fromMs: at(2), untilMs: at(9) };
  assert.equal(webhookDueMs(moved(0), 6 * minute, [later]), at(6));
});

Deno.test("webhookDueMs() waits for the attempt after a time in which nothing ran", () => {
  const due = (minutes: number, untilMinutes: number) =>
    webhookDueMs(moved(minutes), 6 * minute, [
      { fromMs: at(0), untilMs: at(untilMinutes) },
    ]);
  assert.equal(due(1, 4), at(1 + 5 + 6), "the second attempt after 5 minutes");
  assert.equal(due(1, 10), at(1 + 65 + 6), "the third, by the later reading");
  assert.equal(due(1, 63), at(1 + 120 + 6), "62 minutes: 2 h or 1 h 05 min");
  const announced = { ...moved(1), announced: true };
  const pause = { fromMs: at(0), untilMs: at(10) };
  assert.equal(webhookDueMs(announced, 6 * minute, [pause]), at(1 + 6));
  assert.equal(due(1, 24 * 60), at(1 + 6), "after the last none comes");
});
