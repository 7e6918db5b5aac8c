import {
  classifyOccurrences,
  type Occurrence,
  type OccurrenceOptions,
} from "../fold/occurrences.ts";
import type { Driver } from "../store/driver.ts";

/**
 * Reads the deliveries whose bytes equal those of one delivery, and tells which
 * of them repeat another and which happened again.
 *
 * @param driver The database.
 * @param eventId One of the deliveries.
 * @param options How to tell.
 * @returns All of them by time of arrival; none when there is no such delivery.
 */
export async function readOccurrences(
  driver: Driver,
  eventId: string,
  options: OccurrenceOptions = {},
): Promise<Occurrence[]> {
  const [rows] = await driver.batch([{
    // The two arms are the two ways in which deliveries can be found by index.
    sql: `WITH one AS (SELECT order_id, digest FROM events
        WHERE event_id = ? AND kind = 'webhook' AND digest IS NOT NULL)
      SELECT event_id, recorded_at, event_id NOT IN
        (SELECT event_id FROM unanswered_deliveries) FROM (
        SELECT e.event_id, e.recorded_at FROM one JOIN events AS e
          ON e.order_id = one.order_id
          WHERE e.kind = 'webhook' AND e.digest = one.digest
        UNION ALL
        SELECT e.event_id, e.recorded_at FROM one JOIN events AS e
          ON substr(e.digest, 1, 16) = substr(one.digest, 1, 16)
          WHERE one.order_id IS NULL AND e.order_id IS NULL
            AND e.kind = 'webhook' AND e.digest = one.digest)`,
    args: [eventId],
  }], "read");
  return classifyOccurrences(
    rows?.rows.map(([eventId, recordedAt, answered]) => ({
      eventId: eventId as string,
      recordedAt: recordedAt as string,
      answered: answered === 1,
    })) ?? [],
    options,
  );
}
