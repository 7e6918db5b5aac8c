import {
  type Meter,
  type MeterCounter,
  NO_METER,
} from "../../core/telemetry/meter.ts";
import type { BodyClasses } from "../../core/webhook_event/classify_body.ts";
import type { WriteLog } from "./endpoint_log.ts";

/** What is logged of a body with something odd. */
const ODDITIES = {
  quarantined: {
    code: "quarantined",
    message: "A delivery is not a JSON object",
  },
  other: {
    code: "unrecognised",
    message: "A delivery is not one of the documented events",
  },
  long: {
    code: "identifier_too_long",
    message: "A delivery has an identifier that is too long",
  },
} as const;

/** Counts and logs what stored bodies are, a group at a time. */
export class BodyReport {
  readonly #log: WriteLog;
  readonly #bodies: MeterCounter;
  readonly #quarantined: MeterCounter;

  constructor(
    { meter = NO_METER, log }: {
      readonly meter: Meter | undefined;
      readonly log: WriteLog;
    },
  ) {
    this.#log = log;
    this.#bodies = meter.createCounter("rampkit.webhook.bodies", {
      description: "Bodies in the ledger by event type",
      unit: "{delivery}",
    });
    this.#quarantined = meter.createCounter("rampkit.webhook.quarantined", {
      description: "Stored bodies that are no JSON object",
      unit: "{delivery}",
    });
  }

  /** Reports a group that was stored. */
  take({ counts, odd }: BodyClasses): void {
    for (const [type, count] of Object.entries(counts)) {
      this.#bodies.add(count, { type });
      if (type === "quarantined") this.#quarantined.add(count);
    }
    for (const { deliveryId, type, why } of odd) {
      const kind = type === "quarantined" || type === "other" ? type : "long";
      this.#log({ level: "warn", ...ODDITIES[kind], deliveryId, detail: why });
    }
  }
}
