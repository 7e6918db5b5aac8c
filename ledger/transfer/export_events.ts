import type { Driver } from "../store/driver/driver.ts";
import { erasableEvent } from "../store/tables/erasure/erasable_events.ts";
import { selectEventsAndErasures } from "../store/tables/events/events.ts";
import { allNotes } from "../attention/notes.ts";
import {
  type ExportedErasure,
  type ExportedEvent,
  exportedEvent,
  type ExportedNote,
  exportedNote,
  exportErasures,
  type ExportHeader,
  type ExportTrailer,
} from "./exported_event.ts";

/**
 * A line of an export: the first says what it is, the last how many events stood
 * between.
 */
export type ExportedLine =
  | ExportedEvent
  | ExportHeader
  | ExportedErasure
  | ExportedNote
  | ExportTrailer;

/**
 * Writes a ledger as lines of JSON: a header, who was erased, every event there is by
 * position, what people noted, and a last line that states the number of events,
 * so that a file that was cut is seen.
 *
 * @param environment Environment of the ledger.
 * @returns Lines without line breaks.
 */
export async function* exportEvents(
  driver: Driver,
  environment: string,
): AsyncGenerator<string> {
  const header: ExportHeader = { rampkit: "events", version: 1, environment };
  yield JSON.stringify(header);
  yield* exportErasures(driver);
  let events = 0;
  for (let after = 0;;) {
    const [rows] = await driver.batch(
      [selectEventsAndErasures(after)],
      "read",
    );
    if (rows === undefined || rows.rows.length === 0) break;
    for (const row of rows.rows) {
      const { event, erased } = erasableEvent(row);
      after = event.position;
      yield exportedEvent(event, erased);
      events++;
    }
  }
  for await (const note of allNotes(driver)) yield exportedNote(note);
  const trailer: ExportTrailer = { end: events };
  yield JSON.stringify(trailer);
}
