import {
  classifyOccurrences,
  type Occurrence,
  type OccurrenceOptions,
} from "../explain/occurrences.ts";
import type { Driver } from "../store/driver/driver.ts";
import { selectSameBytes } from "../store/tables/deliveries.ts";

/**
 * Reads the deliveries whose bytes equal those of one delivery, and tells which
 * of them repeat another and which happened again.
 *
 * @param eventId One of the deliveries.
 * @param options How to tell.
 * @returns All of them by time of arrival; none when there is no such delivery.
 */
export async function readOccurrences(
  driver: Driver,
  eventId: string,
  options: OccurrenceOptions = {},
): Promise<Occurrence[]> {
  const [rows] = await driver.batch([selectSameBytes(eventId)], "read");
  return classifyOccurrences(
    rows?.rows.map(([eventId, recordedAt, answered]) => ({
      eventId: eventId as string,
      recordedAt: recordedAt as string,
      answered: answered === 1,
    })) ?? [],
    options,
  );
}
