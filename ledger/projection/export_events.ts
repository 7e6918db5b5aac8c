import type { Driver } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import { endOfWindow } from "../store/window_end.ts";
import {
  exportedEvent,
  type ExportHeader,
  type ExportTrailer,
} from "./exported_event.ts";

/** Few at a time, and fewer where bodies are large. */
const end = endOfWindow({
  where: "position > ?1",
  maxEvents: "200",
  maxBytes: String(4 << 20),
});

/**
 * Writes a ledger as lines of JSON: a header, every event there is by
 * position, and a last line that states their number, so that a file that was
 * cut is seen.
 *
 * @param driver The database.
 * @param environment Environment of the ledger.
 * @returns Lines without line breaks.
 */
export async function* exportEvents(
  driver: Driver,
  environment: string,
): AsyncGenerator<string> {
  const header: ExportHeader = { rampkit: "events", version: 1, environment };
  yield JSON.stringify(header);
  let events = 0;
  for (let after = 0;;) {
    const [rows] = await driver.batch([{
      sql: `SELECT ${eventColumns}, (SELECT commitment FROM erasures
          WHERE erasures.position = events.position)
        FROM events WHERE position > ?1 AND position <= ${end}
        ORDER BY position`,
      args: [after],
    }], "read");
    if (rows === undefined || rows.rows.length === 0) break;
    for (const row of rows.rows) {
      const event = recordedEvent(row);
      const commitment = row[13];
      after = event.position;
      yield exportedEvent(
        event,
        commitment instanceof Uint8Array ? commitment : null,
      );
      events++;
    }
  }
  const trailer: ExportTrailer = { end: events };
  yield JSON.stringify(trailer);
}
