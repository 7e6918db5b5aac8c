import type { RefusalReason } from "./refusal.ts";
import {
  DURATION_BOUNDS,
  type Meter,
  type MeterCounter,
  type MeterLabels,
  type MeterRecorder,
  NO_METER,
} from "../../core/telemetry/meter.ts";

/** What an endpoint has done and is doing. */
export interface WebhookEndpointStats {
  /** Requests being answered. */
  readonly inFlight: number;
  /** Bytes of bodies held for them. */
  readonly heldBytes: number;
  /** How often each HTTP status was answered, by status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Requests that were refused, by reason; a reason without any is absent. */
  readonly refused: Readonly<Partial<Record<RefusalReason, number>>>;
  /**
   * Address of the latest request that knew the secret and is not on the
   * allowlist; null when there was none, or its address is unknown.
   */
  readonly lastNotAllowed: string | null;
  /** Since when bodies are refused for their size alone, while others get in. */
  readonly refusing: {
    /** Those above 64 KiB, UTC ISO 8601; null while none was for a minute. */
    readonly large: string | null;
    /** Those above 8 KiB, UTC ISO 8601; null while none was for a minute. */
    readonly allButSmall: string | null;
  };
  /** Whether the latest delivery was stored. */
  readonly appending: boolean;
  /** Notes of unanswered deliveries that could not be stored yet. */
  readonly unansweredNotes: number;
  /** When the latest delivery was kept, UTC ISO 8601; null before the first. */
  readonly lastDeliveryAt: string | null;
}

/** Counts of an endpoint, for its stats and for a meter. */
export class EndpointCounts {
  readonly #deliveries: MeterCounter;
  readonly #refusals: MeterCounter;
  readonly #duration: MeterRecorder;
  /** The hot path passes the same labels again and again. */
  readonly #labels = new Map<number, MeterLabels>();
  readonly #answers: Record<string, number> = {};
  readonly #refused: Partial<Record<RefusalReason, number>> = {};
  #lastDeliveryMs: number | null = null;

  constructor(meter: Meter = NO_METER) {
    this.#deliveries = meter.createCounter("rampkit.webhook.deliveries", {
      description: "Webhook requests by answer",
      unit: "{request}",
    });
    this.#refusals = meter.createCounter("rampkit.webhook.refused", {
      description: "Refused requests by reason",
      unit: "{request}",
    });
    this.#duration = meter.createHistogram("rampkit.webhook.answer.duration", {
      description: "Time from the arrival of a webhook to its answer",
      unit: "s",
      advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
    });
  }

  /** Counts an answer. */
  answered(status: number, durationMs: number): void {
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    let labels = this.#labels.get(status);
    if (labels === undefined) {
      labels = { answer: status };
      this.#labels.set(status, labels);
    }
    this.#deliveries.add(1, labels);
    this.#duration.record(durationMs / 1000, labels);
  }

  /** Counts a refusal. */
  refused(reason: RefusalReason): void {
    this.#refused[reason] = (this.#refused[reason] ?? 0) + 1;
    this.#refusals.add(1, { reason });
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
