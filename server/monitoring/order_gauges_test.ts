import assert from "node:assert/strict";
import type { OrderTally } from "../../ledger/for_server.ts";
import { OrderGauges } from "./order_gauges.ts";
import { PrometheusMetrics } from "./prometheus/prometheus_metrics.ts";

Deno.test("OrderGauges tell orders by status, age and anomaly, and 0 for what is gone", async () => {
  const prometheus = new PrometheusMetrics();
  let tally: OrderTally = {
    byStatus: new Map([["pending", 2], ["success", 5]]),
    open: [{
      status: "pending",
      trust: "confirmed",
      count: 2,
      oldestAt: "2026-11-20T12:00:00.000Z",
    }],
    byAnomaly: new Map([["contested", 1]]),
  };
  const gauges = new OrderGauges({
    meter: prometheus,
    tally: () => Promise.resolve(tally),
    now: () => Date.parse("2026-11-20T12:01:00.000Z"),
  });
  const values = () =>
    prometheus.text().split("\n").filter((line) => /^[^#]/.test(line));
  await gauges.look();
  assert.deepEqual(values(), [
    'rampkit_orders{status="pending"} 2',
    'rampkit_orders{status="success"} 5',
    'rampkit_orders_open{status="pending",trust="confirmed"} 2',
    'rampkit_orders_open_age_seconds{status="pending",trust="confirmed"} 60',
    'rampkit_orders_anomalies{kind="contested"} 1',
  ]);
  tally = {
    byStatus: new Map([["success", 7]]),
    open: [],
    byAnomaly: new Map(),
  };
  await gauges.look();
  assert.deepEqual(values(), [
    'rampkit_orders{status="pending"} 0',
    'rampkit_orders{status="success"} 7',
    'rampkit_orders_open{status="pending",trust="confirmed"} 0',
    'rampkit_orders_open_age_seconds{status="pending",trust="confirmed"} 0',
    'rampkit_orders_anomalies{kind="contested"} 0',
  ]);
});
