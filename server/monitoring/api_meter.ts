import { DURATION_BOUNDS, type Meter } from "../../core/telemetry/meter.ts";

/** A request that the HTTP API answered. */
export interface ApiAnswer {
  /** Name of the operation in the OpenAPI document; `none` for other paths. */
  readonly operation: string;
  /** Status of the answer. */
  readonly status: number;
  /** Time from the request to the beginning of the answer, ms. */
  readonly ms: number;
}

/** Makes what counts the answers of the HTTP API. */
export function apiMeter(meter: Meter): (answer: ApiAnswer) => void {
  const duration = meter.createHistogram("rampkit.api.duration", {
    description: "Time from a request to the HTTP API to its answer",
    unit: "s",
    advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
  });
  return ({ operation, status, ms }) =>
    duration.record(ms / 1000, { operation, status });
}
