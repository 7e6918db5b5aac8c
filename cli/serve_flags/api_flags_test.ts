import assert from "node:assert/strict";
import { serviceMetrics } from "../../server/monitoring/metrics.ts";
import { PrometheusMetrics } from "../../server/monitoring/prometheus/prometheus_metrics.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { readConfig } from "../../core/settings/config.ts";
import { until } from "../../tests/kit/until.ts";
import { configuredApi } from "./serve_flags.ts";
import {
  type Logged,
  memoryLedger,
  READ,
} from "../../server/api/testing/test_api.ts";

const TOKENS = { RAMPKIT_API_TOKENS: `read:${READ}` };

const configOf = (env: Readonly<Record<string, string>>) =>
  readConfig((name) => env[name]);

Deno.test("configuredApi() opens nothing unless a port is named", () => {
  assert.equal(configuredApi({}, configOf(TOKENS)), undefined);
});

Deno.test("configuredApi() refuses to be reached by other machines without a token", () => {
  for (const apiHost of ["0.0.0.0", "::", "10.0.0.1", "rampkit.internal"]) {
    const flags = { apiPort: 0, apiHost };
    assert.throws(() => configuredApi(flags, configOf({})), UsageError);
    assert.ok(configuredApi(flags, configOf(TOKENS)));
  }
  for (const apiHost of ["127.0.0.1", "localhost", "::1"]) {
    assert.ok(configuredApi({ apiPort: 0, apiHost }, configOf({})));
  }
});

Deno.test("configuredApi() names its own flag where the port is taken", async () => {
  await using ledger = await memoryLedger();
  await using taken = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(),
  );
  const config = configOf({});
  const open = configuredApi({ apiPort: taken.addr.port }, config);
  await assert.rejects(
    open?.({
      ledger,
      config,
      log: () => {},
      now: () => Date.now(),
      poller: null,
      metrics: serviceMetrics(),
    }) ?? Promise.resolve(),
    {
      name: "CommandError",
      message: /the HTTP API: port \d+ is taken; pass another with --api-port/,
    },
  );
});

Deno.test("configuredApi() answers on its port, and shutting down ends its streams", async () => {
  await using ledger = await memoryLedger();
  const log: Logged[] = [];
  const prometheus = new PrometheusMetrics();
  const config = configOf(TOKENS);
  const api = await configuredApi({ apiPort: 0 }, config)?.({
    ledger,
    config,
    log: (_, event, fields = {}) => {
      log.push({ event, fields });
    },
    now: () => Date.now(),
    poller: null,
    metrics: serviceMetrics({ prometheus, time: () => Date.now() }),
  });
  assert.equal(log[0]?.event, "api_listening");
  const url = String(log[0]?.fields.url);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const headers = { authorization: `Bearer ${READ}` };
  const orders = await fetch(`${url}/v1/orders`, { headers });
  assert.deepEqual(await orders.json(), { items: [], next: null });
  const stranger = await fetch(`${url}/v1/orders`);
  assert.equal(stranger.status, 401);
  await stranger.body?.cancel();

  const elsewhere = await fetch(`${url}/none`, { headers });
  assert.equal(elsewhere.status, 404);
  await elsewhere.body?.cancel();

  const stream = await fetch(`${url}/v1/transitions`, {
    headers: { ...headers, accept: "text/event-stream" },
  });
  let text = "";
  const reading = (async () => {
    for await (
      const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []
    ) text += chunk;
  })();
  await until(() => text.includes("transitions after 0"), "the stream is open");
  await api?.shutdown();
  await reading;
  const metrics = prometheus.text();
  for (
    const count of [
      `{operation="listOrders",status="200"} 1`,
      `{operation="listOrders",status="401"} 1`,
      `{operation="readTransitions",status="200"} 1`,
      `{operation="none",status="404"} 1`,
    ]
  ) {
    assert.ok(
      metrics.includes(`rampkit_api_duration_seconds_count${count}`),
      metrics,
    );
  }
});
