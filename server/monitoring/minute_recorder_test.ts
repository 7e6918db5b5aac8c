import assert from "node:assert/strict";
import { metrics } from "@opentelemetry/api";
import {
  type MinuteRecord,
  readStatistics,
} from "../../ledger/for_resources.ts";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import { MinuteRecorder, recordMinutes } from "./minute_recorder.ts";
import { serviceMetrics } from "./metrics.ts";
import { PrometheusMetrics } from "./prometheus/prometheus_metrics.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const nowhere = metrics.getMeter("nowhere");

/** Instruments as the endpoint and the service make them. */
function instruments() {
  const prometheus = new PrometheusMetrics();
  const meter = prometheus.meter(nowhere);
  const bodies = meter.createCounter("rampkit.webhook.bodies");
  // The mover and the endpoint each make one.
  const others = meter.createCounter("rampkit.webhook.bodies");
  const duration = meter.createHistogram("rampkit.webhook.answer.duration", {
    advice: { explicitBucketBoundaries: [0.001, 1, 5, 10] },
  });
  return {
    prometheus,
    lag: meter.createGauge("rampkit.ledger.lag"),
    backlog: meter.createGauge("rampkit.poll.backlog"),
    body: (type: string) => bodies.add(1, { type }),
    bodyElsewhere: (type: string) => others.add(1, { type }),
    answer: (answer: number, seconds: number) =>
      duration.record(seconds, { answer }),
  };
}

Deno.test("MinuteRecorder stores what was counted since the last minute, by answer and type", async () => {
  const { prometheus, body, bodyElsewhere, answer, lag, backlog } =
    instruments();
  const stored: [number, MinuteRecord][] = [];
  const recorder = new MinuteRecorder({
    metrics: prometheus,
    store: (minutes) => {
      stored.push(...structuredClone([...minutes]));
      return Promise.resolve();
    },
    now: () => 0,
  });
  for (const type of ["login", "other", "quarantined"]) body(type);
  bodyElsewhere("login");
  for (const seconds of [0.0005, 0.5, 0.5]) answer(204, seconds);
  answer(404, 0.0005);
  lag.record(7);
  backlog.record(3, { known: true });
  backlog.record(9, { known: false });
  await recorder.take(10);
  answer(204, 0.5);
  body("login");
  lag.record(0);
  await recorder.take(11);
  assert.deepEqual(stored[0], [10, {
    answers: { "204": [1, 2], "404": [1] },
    types: { login: 2, other: 2 },
    gauges: { lag: 7, backlogKnown: 3, backlogUnknown: 9 },
  }]);
  assert.deepEqual(stored.at(-1), [11, {
    answers: { "204": [0, 1] },
    types: { login: 1 },
    gauges: { lag: 0, backlogKnown: 3, backlogUnknown: 9 },
  }]);
});

Deno.test("MinuteRecorder tries again what the database did not take, and adds to a minute that it stored", async () => {
  const { prometheus, body } = instruments();
  let fails = true;
  const stored: ReadonlyMap<number, MinuteRecord>[] = [];
  const recorder = new MinuteRecorder({
    metrics: prometheus,
    store: (minutes) => {
      if (fails) return Promise.reject(new Error("The database is busy"));
      stored.push(structuredClone(new Map(minutes)));
      return Promise.resolve();
    },
    now: () => 0,
  });
  body("login");
  await recorder.take(10);
  body("test");
  fails = false;
  await recorder.take(11);
  body("test");
  await recorder.take(11);
  const types = stored.map((minutes) =>
    [...minutes].map(([minute, { types }]) => [minute, types])
  );
  assert.deepEqual(types, [
    [[10, { login: 1 }], [11, { test: 1 }]],
    [[11, { test: 2 }]],
  ]);
  fails = true;
  for (let minute = 12; minute < 400; minute++) await recorder.take(minute);
  fails = false;
  await recorder.take(400);
  assert.equal(stored.at(-1)?.size, 121);
});

Deno.test("MinuteRecorder waits for the end of each minute, and stores the rest when it is stopped", async () => {
  const { prometheus, body } = instruments();
  const stop = new AbortController();
  const waits: number[] = [];
  let nowMs = 90_000;
  const minutes: number[] = [];
  await new MinuteRecorder({
    metrics: prometheus,
    store: (stored) => {
      minutes.push(...stored.keys());
      return Promise.resolve();
    },
    now: () => nowMs,
    sleep: (ms) => {
      waits.push(ms);
      nowMs += ms;
      body("login");
      if (waits.length < 3) return Promise.resolve();
      stop.abort();
      return Promise.reject(stop.signal.reason);
    },
  }).run(stop.signal);
  assert.deepEqual(waits, [30_000, 60_000, 60_000]);
  assert.deepEqual([...new Set(minutes)], [1, 2, 3]);
});

Deno.test("recordMinutes() takes the endpoint's own measurements, up to the last answer before the end", async () => {
  await using ledger = await emptyLedger();
  const prometheus = new PrometheusMetrics();
  const { meter, lag } = serviceMetrics({ prometheus });
  const secret = "a-secret-of-32-random-characters";
  let clockMs = 0;
  const endpoint = webhookEndpoint({
    append: () => {
      clockMs += 3;
      return Promise.resolve();
    },
    secrets: [secret],
    path: "/webhooks/",
    meter: meter("@rampkit/onramp/webhooks"),
    clock: () => clockMs,
  });
  const post = async (path: string, body: string) =>
    (await endpoint(
      new Request(`http://127.0.0.1/webhooks/${path}`, {
        method: "POST",
        body,
      }),
    )).status;
  const nowMs = Date.parse("2026-11-20T12:00:30Z");
  {
    await using _minutes = recordMinutes({
      ledger,
      metrics: prometheus,
      now: () => nowMs,
    });
    assert.equal(await post(secret, `{"type":"login"}`), 204);
    assert.equal(await post("wrong", "{}"), 404);
    lag(4);
  }
  await endpoint.drain();
  const { points } = await readStatistics(ledger.driver, {
    fromMs: nowMs,
    toMs: nowMs + 1,
    step: "minute",
    nowMs,
  });
  assert.deepEqual(
    points.map(({ answers, lag, processes }) => [
      answers,
      lag,
      processes,
    ]),
    [[{ "204": 1, "404": 1 }, 4, 1]],
  );
});
