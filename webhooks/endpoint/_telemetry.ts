import {
  type Attributes,
  type Counter,
  type Histogram,
  metrics,
} from "@opentelemetry/api";
import { hideActiveAddress, hidePathsFromSpans } from "./_span_addresses.ts";
import type { RefusalReason } from "../admission/refusal.ts";

const SCOPE = "@rampkit/onramp/webhooks";

/** Metrics and traces of an endpoint. */
export class EndpointTelemetry {
  readonly #deliveries: Counter;
  readonly #quarantined: Counter;
  readonly #refused: Counter;
  readonly #duration: Histogram;
  readonly #labels = new Map<string, Attributes>();
  readonly #route: string;

  constructor(
    { prefix, route, tracedPaths }: {
      readonly prefix: string;
      readonly route: string;
      readonly tracedPaths: readonly string[];
    },
  ) {
    this.#route = route;
    const meter = metrics.getMeter(SCOPE);
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
