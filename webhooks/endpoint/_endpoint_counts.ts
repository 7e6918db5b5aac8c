import type { RefusalReason } from "./refusal.ts";
import type { WebhookEndpointStats } from "./endpoint_stats.ts";
import type { EndpointTelemetry } from "./_telemetry.ts";

/** Counts of an endpoint, for its stats and for telemetry. */
export class EndpointCounts {
  readonly #telemetry: EndpointTelemetry;
  readonly #answers: Record<string, number> = {};
  readonly #refused: Partial<Record<RefusalReason, number>> = {};
  #lastDeliveryMs: number | null = null;

  constructor(telemetry: EndpointTelemetry) {
    this.#telemetry = telemetry;
  }

  /** Counts an answer. */
  answered(status: number, durationMs: number): void {
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    this.#telemetry.answered(status, durationMs);
  }

  /** Counts a refusal. */
  refused(reason: RefusalReason): void {
    this.#refused[reason] = (this.#refused[reason] ?? 0) + 1;
    this.#telemetry.refused(reason);
  }

  /** Counts a stored delivery. */
  stored(receivedAtMs: number): void {
    this.#lastDeliveryMs = receivedAtMs;
  }

  /** The counts so far, as `stats()` gives them. */
  snapshot(): Pick<
    WebhookEndpointStats,
    "answers" | "refused" | "lastDeliveryAt"
  > {
    const lastMs = this.#lastDeliveryMs;
    return {
      answers: { ...this.#answers },
      refused: { ...this.#refused },
      lastDeliveryAt: lastMs === null ? null : new Date(lastMs).toISOString(),
    };
  }
}
