import assert from "node:assert/strict";
import { PollTally, serviceMetrics } from "./metrics.ts";
import { metrics } from "@opentelemetry/api";
import {
  UNTRIED,
  withFailure,
  withoutFailure,
} from "../../sync/testing/mod.ts";
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

Deno.test("serviceMetrics() exports commits and lag when telemetry is on", async () => {
  const received: string[] = [];
  await using collector = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      received.push(await request.text());
      return Response.json({});
    },
  );
  const program = `
    import { serviceMetrics } from ${
    JSON.stringify(new URL("metrics.ts", import.meta.url).href)
  };
    const measured = serviceMetrics();
    await measured.timed(() => Promise.resolve());
    measured.spool({ depth: 3, oldestMs: Date.now() - 5000 });
    measured.lag(7);
    measured.delivery({
      deliverySuspected: true,
      state: "suspected",
      failingSince: null,
      countdown: { leftFromFirstMs: 1000, leftFromPreviousMs: 2000 },
    });
    measured.polling({ failures: [], workedAt: null });
    measured.conditions([]);
  `;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, program);
  const { code, stderr } = await new Deno.Command("deno", {
    args: [
      "run",
      "--allow-read",
      "--allow-net=127.0.0.1",
      `--config=${new URL("../../deno.json", import.meta.url).pathname}`,
      file,
    ],
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
    },
  }).output();
  await Deno.remove(file);
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const text = received.join("\n");
  for (
    const name of [
      "rampkit.ledger.commit.duration",
      "rampkit.ledger.lag",
      "rampkit.condition",
      "rampkit.delivery.off.in",
      "rampkit.poll.attempts",
    ]
  ) assert.ok(text.includes(name), name);
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
