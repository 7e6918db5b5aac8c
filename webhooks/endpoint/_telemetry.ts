import { metrics } from "@opentelemetry/api";
import {
  DURATION_BOUNDS,
  type Meter,
  type MeterCounter,
  type MeterLabels,
  type MeterRecorder,
} from "../../core/telemetry/meter.ts";
import { hideActiveAddress, hidePathsFromSpans } from "./_span_addresses.ts";
import type { RefusalReason } from "./refusal.ts";

const SCOPE = "@rampkit/onramp/webhooks";

/** Metrics and traces of an endpoint. */
export class EndpointTelemetry {
  readonly #deliveries: MeterCounter;
  readonly #refused: MeterCounter;
  readonly #duration: MeterRecorder;
  readonly #labels = new Map<number, MeterLabels>();
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
      description: "Webhook requests by answer",
      unit: "{request}",
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

  /** Counts one answer. */
  answered(answer: number, durationMs: number): void {
    let labels = this.#labels.get(answer);
    if (labels === undefined) {
      labels = { answer };
      this.#labels.set(answer, labels);
    }
    this.#deliveries.add(1, labels);
    this.#duration.record(durationMs / 1000, labels);
  }
}
