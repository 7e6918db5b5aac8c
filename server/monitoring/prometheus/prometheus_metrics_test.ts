import assert from "node:assert/strict";
import {
  labelText,
  numberText,
  PrometheusMetrics,
} from "./prometheus_metrics.ts";

Deno.test("PrometheusMetrics.text() writes every kind of instrument by the format's rules", () => {
  const meter = new PrometheusMetrics();
  const requests = meter.createCounter("rampkit.webhook.deliveries", {
    description: "Requests, a \\ and\nanother line",
    unit: "{request}",
  });
  requests.add(1, { type: "test", answer: 204 });
  requests.add(2, { answer: 204, type: "test" });
  meter.createGauge("rampkit.poll.backlog.age", { unit: "s" }).record(1.5);
  const duration = meter.createHistogram("rampkit.answer.duration", {
    description: "Answers",
    unit: "s",
    advice: { explicitBucketBoundaries: [0.1, 1] },
  });
  for (const value of [0.05, 0.1, 0.5, 3]) duration.record(value, { a: true });
  meter.createGauge("rampkit.not.measured.yet");
  let depth = 1;
  meter.createObservableGauge("rampkit.spool.depth", { description: "Waits" })
    .addCallback((result) => result.observe(depth));
  depth = 7;
  assert.equal(
    meter.text(),
    `# HELP rampkit_webhook_deliveries_total Requests, a \\\\ and\\nanother line
# TYPE rampkit_webhook_deliveries_total counter
rampkit_webhook_deliveries_total{answer="204",type="test"} 3
# HELP rampkit_poll_backlog_age_seconds 
# TYPE rampkit_poll_backlog_age_seconds gauge
rampkit_poll_backlog_age_seconds 1.5
# HELP rampkit_answer_duration_seconds Answers
# TYPE rampkit_answer_duration_seconds histogram
rampkit_answer_duration_seconds_bucket{a="true",le="0.1"} 2
rampkit_answer_duration_seconds_bucket{a="true",le="1"} 3
rampkit_answer_duration_seconds_bucket{a="true",le="+Inf"} 4
rampkit_answer_duration_seconds_sum{a="true"} 3.65
rampkit_answer_duration_seconds_count{a="true"} 4
# HELP rampkit_spool_depth Waits
# TYPE rampkit_spool_depth gauge
rampkit_spool_depth 7
`,
  );
});

Deno.test("labelText() escapes what would end a label or a line", () => {
  assert.equal(
    labelText({ status: 'on "hold"\\\nx 1' }),
    'status="on \\"hold\\"\\\\\\nx 1"',
  );
  assert.deepEqual([NaN, Infinity, -Infinity, 1e21].map(numberText), [
    "NaN",
    "+Inf",
    "-Inf",
    "1e+21",
  ]);
});
