import { metrics } from "@opentelemetry/api";
import {
  DURATION_BOUNDS,
  type Meter,
  type MeterCounter,
  type MeterLabels,
  type MeterRecorder,
} from "../../core/telemetry/meter.ts";
import { hideActiveAddress, hidePathsFromSpans } from "./_span_addresses.ts";
import type { RefusalReason } from "../admission/refusal.ts";

const SCOPE = "@rampkit/onramp/webhooks";

/** Metrics and traces of an endpoint. */
export class EndpointTelemetry {
  readonly #deliveries: MeterCounter;
  readonly #quarantined: MeterCounter;
  readonly #refused: MeterCounter;
  readonly #duration: MeterRecorder;
  readonly #labels = new Map<string, MeterLabels>();
  readonly #route: string;

  constructor(
    { prefix, route, tracedPaths, meter = metrics.getMeter(SCOPE) }: {
      readonly prefix: string | null;
      readonly route: string;
      readonly tracedPaths: readonly string[];
      readonly meter: Meter | undefined;
    },
  ) {
    this.#route = route;
    this.#deliveries = meter.createCounter("rampkit.webhook.deliveries", {
      description: "Webhook requests by event type and answer",
      unit: "{request}",
    });
    this.#quarantined = meter.createCounter("rampkit.webhook.quarantined", {
      description: "Stored bodies that are no JSON object",
      unit: "{delivery}",
    });
    this.#refused = meter.createCounter("rampkit.webhook.refused", {
      description: "Refused requests by reason",
      unit: "{request}",
    });
    this.#duration = meter.createHistogram("rampkit.webhook.answer.duration", {
      description: "Time from the arrival of a webhook to its answer",
      unit: "s",
      advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
    });
    hidePathsFromSpans({ prefix, route, tracedPaths });
  }

  /** Names the route of the request being handled, in place of its address. */
  hideAddress(): void {
    hideActiveAddress(this.#route);
  }

  /** Counts one request that was refused. */
  refused(reason: RefusalReason): void {
    this.#refused.add(1, { reason });
  }

  /** Counts one answer. `type` is one of a fixed set. */
  answered(type: string, answer: number, durationMs: number): void {
    const key = `${type} ${answer}`;
    let labels = this.#labels.get(key);
    if (labels === undefined) {
      labels = { type, answer };
      this.#labels.set(key, labels);
    }
    this.#deliveries.add(1, labels);
    this.#duration.record(durationMs / 1000, labels);
    if (type === "quarantined") this.#quarantined.add(1);
  }
}
