/** Writes a ledger as lines of JSON: who was erased, and every event by position. */
import { Buffer } from "node:buffer";
import type { RecordedEvent } from "../events/event.ts";
import type { Driver } from "../store/driver/driver.ts";
import { readAliasRows } from "../store/aliases.ts";
import { bytesOf } from "../store/database.ts";
import { hexOf, readEvents } from "../store/events.ts";

/** First line of an export. */
export interface ExportHeader {
  readonly rampkit: "events";
  readonly version: 1;
  readonly environment: string;
}

/** An event as a line of an export: what is stored but the position. */
export interface ExportedEvent
  extends Omit<RecordedEvent, "position" | "salt" | "body"> {
  /** Hex. */
  readonly salt: string;
  /** The exact bytes, base64. */
  readonly body: string;
}

/** Who was erased, by keyed hash. */
export interface ExportedAlias {
  readonly erasure: "aliases";
  /** Hash as hex, kind, alias. */
  readonly row: readonly (string | number)[];
}

/** Last line of an export: without it the file was cut. */
export interface ExportTrailer {
  /** Number of events before it. */
  readonly end: number;
}

/** A line of an export. */
export type ExportedLine =
  | ExportedEvent
  | ExportHeader
  | ExportedAlias
  | ExportTrailer;

/** Bytes of bodies that are read at once. */
const BYTES = 4 << 20;

/** Events of one page: so many, of so many bytes together, but one at least. */
const PAGE = `events AS e
  WHERE e.position > ?1 AND e.position <= (
    SELECT max(position) FROM (
      SELECT position, size, sum(size) OVER (ORDER BY position) AS total
      FROM (SELECT position, length(body) AS size FROM events
        WHERE position > ?1 ORDER BY position LIMIT 500))
    WHERE total <= ?2 OR total = size)
  ORDER BY e.position`;

/** Reads all events by position, a few at a time. */
export async function* allEvents(
  driver: Driver,
): AsyncGenerator<RecordedEvent> {
  for (let after = 0;;) {
    const events = await readEvents(driver, PAGE, after, BYTES);
    yield* events;
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

/** Writes a ledger as lines of JSON; by the number in the last a cut file is seen. */
export async function* exportEvents(
  driver: Driver,
  environment: string,
): AsyncGenerator<string> {
  yield JSON.stringify({ rampkit: "events", version: 1, environment });
  for (const [hash, kind, alias] of await readAliasRows(driver)) {
    const row = [hexOf(bytesOf(hash)), kind, alias];
    yield JSON.stringify({ erasure: "aliases", row });
  }
  let events = 0;
  for await (const event of allEvents(driver)) {
    yield exportedEvent(event);
    events++;
  }
  yield JSON.stringify({ end: events });
}

/** What follows from the body is written too, so that people can search for it. */
function exportedEvent(event: RecordedEvent): string {
  const { eventId, kind, type, orderId, userId, clickId } = event;
  const { occurredAt, recordedAt, readAt, digest, salt, body } = event;
  return JSON.stringify({
    ...{ eventId, kind, type, orderId, userId, clickId },
    ...{ occurredAt, recordedAt, readAt, digest },
    salt: hexOf(salt),
    body: Buffer.from(body).toString("base64"),
  });
}
