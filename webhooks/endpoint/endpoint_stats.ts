import type { RefusalReason } from "./refusal.ts";
import type { EndpointTelemetry } from "./_telemetry.ts";

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
