import assert from "node:assert/strict";
import { DriftWatch } from "./order_gauges.ts";
import { PrometheusMetrics } from "./prometheus/prometheus_metrics.ts";

Deno.test("DriftWatch.look() measures by name what was met, and 0 once it is forgotten", async () => {
  const prometheus = new PrometheusMetrics();
  const at = new Date(0).toISOString();
  const looks = [
    { names: { "orders.risk": { count: 3, since: at, lastAt: at } } },
    { names: {} },
  ];
  const watch = new DriftWatch({
    meter: prometheus,
    look: () => Promise.resolve(looks.shift() ?? { names: {} }),
  });
  await watch.look();
  assert.match(
    prometheus.text(),
    /^rampkit_drift\{.*name="orders\.risk".*\} 3$/m,
  );
  await watch.look();
  assert.match(
    prometheus.text(),
    /^rampkit_drift\{.*name="orders\.risk".*\} 0$/m,
  );
});
