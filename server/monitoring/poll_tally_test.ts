import assert from "node:assert/strict";
import { metrics } from "@opentelemetry/api";
import {
  UNTRIED,
  withFailure,
  withoutFailure,
} from "../../sync/testing/mod.ts";
import { PollTally } from "./poll_tally.ts";
import { PrometheusMetrics } from "./prometheus/prometheus_metrics.ts";

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
    prometheus.meter(metrics.getMeter("nowhere")),
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
