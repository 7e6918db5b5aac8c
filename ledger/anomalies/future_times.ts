import type { TimeInFuture } from "./anomaly.ts";

/**
 * The anomalies of times that lie after the reading that shows them.
 *
 * @param stated What the service states, by field of the state; null where the
 * time counts as stated.
 * @returns One for each such time.
 */
export function futureTimes(
  stated: Readonly<Record<string, string | null>>,
): readonly TimeInFuture[] {
  return Object.entries(stated).flatMap(([field, time]) =>
    time === null ? [] : [{ kind: "time_in_future", field, stated: time }]
  );
}
