import assert from "node:assert/strict";
import type { PollAlert } from "../../sync/mod.ts";
import { StalledPoller } from "./log_alerts.ts";

Deno.test("StalledPoller reports once that a poller is stuck, and once that it continues", () => {
  let steadyMs = 0;
  const alerts: PollAlert[] = [];
  using watch = new StalledPoller({
    // The machine's clock was set back; the steady one was not.
    now: () => Date.parse("2026-11-20T12:00:00.000Z"),
    steady: () => steadyMs,
    onAlert: (alert) => alerts.push(alert),
  });
  const report = () => watch.reported({ failures: [], workedAt: null });
  steadyMs += 170_000;
  watch.look();
  report();
  steadyMs += 170_000;
  watch.look();
  assert.equal(alerts.length, 0);
  steadyMs += 15_000;
  watch.look();
  steadyMs += 15_000;
  watch.look();
  assert.equal(alerts.length, 1);
  assert.equal(alerts[0]?.kind, "failing");
  assert.equal(watch.stuck?.cause, "stalled");
  assert.equal(watch.stuck?.since, "2026-11-20T11:56:55.000Z");
  report();
  assert.deepEqual(alerts[1], {
    kind: "recovered",
    since: "2026-11-20T11:56:55.000Z",
  });
  assert.equal(watch.stuck, null);
});
