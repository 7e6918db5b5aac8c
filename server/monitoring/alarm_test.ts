import assert from "node:assert/strict";
import { Alarm } from "./alarm.ts";
import type { Level, LogEvent } from "./logger.ts";

function alarm(event: LogEvent) {
  let nowMs = 0;
  const lines: [Level, LogEvent, unknown][] = [];
  return {
    lines,
    after: (ms: number) => nowMs += ms,
    alarm: new Alarm(
      (level, event, fields) => lines.push([level, event, fields]),
      event,
      () => nowMs,
    ),
  };
}

Deno.test("Alarm logs once when it is raised and once when it is cleared", () => {
  const { alarm: projection, lines, after } = alarm("projection_failing");
  projection.clear();
  projection.raise({ message: "The disk is full" });
  after(1000);
  projection.raise({ message: "The disk is full" });
  assert.equal(projection.since, "1970-01-01T00:00:00.000Z");
  projection.clear();
  projection.clear();
  const since = "1970-01-01T00:00:00.000Z";
  assert.deepEqual(lines, [
    ["error", "projection_failing", { since, message: "The disk is full" }],
    ["info", "projection_recovered", { since }],
  ]);
  projection.raise({ message: "The disk is full again" });
  assert.equal(projection.since, "1970-01-01T00:00:01.000Z");
});

Deno.test("Alarm does not log its end when the log has no event for it", () => {
  const { alarm: replaced, lines } = alarm("ledger_replaced");
  replaced.raise({});
  replaced.clear();
  assert.equal(lines.length, 1);
});
