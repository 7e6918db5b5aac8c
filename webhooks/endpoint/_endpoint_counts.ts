import type { RefusalReason } from "../admission/refusal.ts";
import type { WebhookEndpointStats } from "./endpoint_stats.ts";
import type { EndpointTelemetry } from "./_telemetry.ts";

/** Counts of an endpoint, for its stats and for telemetry. */
export class EndpointCounts {
  readonly #telemetry: EndpointTelemetry;
  readonly #answers: Record<string, number> = {};
  readonly #refused: Partial<Record<RefusalReason, number>> = {};
  #quarantined = 0;
  #lastDeliveryAt: string | null = null;

  constructor(telemetry: EndpointTelemetry) {
    this.#telemetry = telemetry;
  }

  /** Counts an answer. */
  answered(type: string, status: number, durationMs: number): void {
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    this.#telemetry.answered(type, status, durationMs);
  }

  /** Counts a refusal. */
  refused(reason: RefusalReason): void {
    this.#refused[reason] = (this.#refused[reason] ?? 0) + 1;
    this.#telemetry.refused(reason);
  }

  /** Counts a stored delivery. */
  stored(type: string, receivedAt: string): void {
    this.#lastDeliveryAt = receivedAt;
    if (type === "quarantined") this.#quarantined++;
  }

  /** The counts so far, as `stats()` gives them. */
  snapshot(): Pick<
    WebhookEndpointStats,
    "answers" | "refused" | "quarantined" | "lastDeliveryAt"
  > {
    return {
      answers: { ...this.#answers },
      refused: { ...this.#refused },
      quarantined: this.#quarantined,
      lastDeliveryAt: this.#lastDeliveryAt,
    };
  }
}
