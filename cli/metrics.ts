import { metrics } from "@opentelemetry/api";
import type { DeliveryHealth } from "../ledger/poller/watchdog_rule.ts";
import type { AppendDelivery } from "../webhooks/delivery.ts";

const SCOPE = "@rampkit/onramp";

/** What `serve` and the Deploy entry measure beside the endpoint itself. */
export interface ServiceMetrics {
  /** Measures how long commits take. */
  readonly timed: (append: AppendDelivery) => AppendDelivery;
  /** Tells how many events wait to be folded. */
  readonly lag: (events: number) => void;
  /** Tells how webhook delivery is. */
  readonly delivery: (health: DeliveryHealth) => void;
}

/**
 * Metrics by OpenTelemetry; nothing is measured anywhere while telemetry is
 * off. `rampkit.ledger.commit.duration` (s), `rampkit.ledger.lag` (events),
 * `rampkit.delivery.suspected` (1 while delivery may be off) and
 * `rampkit.delivery.received` (1 once any webhook came).
 *
 * @param now Steady clock, ms.
 */
export function serviceMetrics(
  now: () => number = () => performance.now(),
): ServiceMetrics {
  const meter = metrics.getMeter(SCOPE);
  const commit = meter.createHistogram("rampkit.ledger.commit.duration", {
    description: "Time from handing a delivery to the ledger to its commit",
    unit: "s",
  });
  const lag = meter.createGauge("rampkit.ledger.lag", {
    description: "Events that are stored and not folded",
    unit: "{event}",
  });
  const suspected = meter.createGauge("rampkit.delivery.suspected", {
    description: "1 while orders move and no webhook comes",
  });
  const received = meter.createGauge("rampkit.delivery.received", {
    description: "1 once any webhook was received",
  });
  return {
    timed: (append) => async (delivery) => {
      const begun = now();
      try {
        await append(delivery);
        commit.record((now() - begun) / 1000, { outcome: "stored" });
      } catch (error) {
        commit.record((now() - begun) / 1000, { outcome: "failed" });
        throw error;
      }
    },
    lag: (events) => lag.record(events),
    delivery: ({ deliverySuspected, state }) => {
      suspected.record(deliverySuspected ? 1 : 0);
      received.record(state === "never_received" ? 0 : 1);
    },
  };
}
