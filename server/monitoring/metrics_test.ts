import assert from "node:assert/strict";
import { PollTally, serviceMetrics } from "./metrics.ts";
import {
  UNTRIED,
  withFailure,
  withoutFailure,
} from "../../sync/polling/poll_health.ts";
import { PrometheusMetrics } from "./prometheus/prometheus_metrics.ts";

Deno.test("serviceMetrics() passes commits and failures on as they are", async () => {
  const { timed } = serviceMetrics({ now: () => 0 });
  let commits = 0;
  await timed(() => {
    commits++;
    return Promise.resolve();
  });
  await assert.rejects(timed(() => Promise.reject(new Error("Full"))), /Full/);
  assert.equal(commits, 1);
});

Deno.test("serviceMetrics() has commits, lag and conditions collected", async () => {
  const prometheus = new PrometheusMetrics();
  const measured = serviceMetrics({
    prometheus,
    now: () => 0,
    time: () => 5000,
  });
  await measured.timed(() => Promise.resolve());
  measured.spool({ depth: 3, oldestMs: 0 });
  measured.lag(7);
  measured.delivery({
    countdown: {
      firstFailureAt: at(0),
      offAtFromFirst: at(1),
      offAtFromPrevious: at(2),
      leftFromFirstMs: 1000,
      leftFromPreviousMs: 2000,
    },
  });
  measured.polling({ failures: [], workedAt: null });
  measured.conditions([]);
  const text = prometheus.text();
  for (
    const line of [
      'rampkit_ledger_commit_duration_seconds_count{outcome="stored"} 1',
      "rampkit_ledger_lag 7",
      'rampkit_delivery_off_in_seconds{reading="from_first"} 1',
      "rampkit_poll_attempts 0",
      "rampkit_webhook_spool_depth 3",
      "rampkit_webhook_spool_age_seconds 5",
    ]
  ) assert.ok(text.split("\n").includes(line), `${line} in ${text}`);
  assert.match(text, /^rampkit_condition\{code="\w+",subject="\w+"\} 0$/m);
});

const at = (second: number) =>
  new Date(Date.UTC(2026, 10, 20, 12, 0, second)).toISOString();

function failure(second: number) {
  return {
    sweep: "new",
    lastAt: at(second),
    nextAttemptAt: null,
    cause: "timeout",
    status: null,
    message: "Late",
  } as const;
}

Deno.test("PollTally counts each failure once, and those of an earlier process never", () => {
  const prometheus = new PrometheusMetrics();
  const tally = new PollTally(
    prometheus,
    () => Date.parse(at(10)),
  );
  const earlier = withFailure(withFailure(UNTRIED, failure(1)), failure(2));
  const one = withFailure(earlier, failure(11));
  tally.take(one);
  tally.take(one);
  const two = withFailure(one, failure(12));
  tally.take(two);
  const worked = { ...withoutFailure(two, "new"), workedAt: at(5) };
  tally.take(worked);
  tally.take(withFailure(worked, failure(14)));
  const text = prometheus.text();
  assert.match(
    text,
    /^rampkit_poll_failures_total\{cause="timeout",sweep="new"\} 3$/m,
  );
  assert.match(text, /^rampkit_poll_success_age_seconds 5$/m);
});
