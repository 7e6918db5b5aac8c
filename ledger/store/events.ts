/** The events: how they are stored, appended and read back. */
import { Buffer } from "node:buffer";
import { derive } from "../events/record.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Driver, SqlValue, Statement } from "./driver/driver.ts";
import {
  bytesOf,
  readDeciding,
  type Rows,
  select,
  statement,
} from "./database.ts";

/** What {@linkcode eventsOf} reads, of a table `events AS e`. */
export const EVENT_COLUMNS =
  "e.position, e.id, e.kind, e.recorded_at, e.read_at, e.body, e.salt";

/** A time as milliseconds where that loses nothing, else as it was written. */
export function storedTime(time: string | null): number | string | null {
  const ms = time === null ? NaN : Date.parse(time);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === time ? ms : time;
}

/** The time that {@linkcode storedTime} stored. */
export function timeOf(stored: SqlValue | undefined): string | null {
  if (typeof stored !== "number" && typeof stored !== "bigint") {
    return stored as string | null ?? null;
  }
  return new Date(Number(stored)).toISOString();
}

/** Milliseconds of a time; null of what is none. */
export function msOf(time: string | null | undefined): number | null {
  const ms = time ? Date.parse(time) : NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** What is stored of an event, without what its body says. */
export type RawEvent = Pick<
  RecordedEvent,
  "position" | "eventId" | "kind" | "recordedAt" | "readAt" | "body" | "salt"
>;

/** What an append stores: what a body says is read later. */
export type UnreadEvent = Omit<RawEvent, "position">;

/** Reads rows of {@linkcode EVENT_COLUMNS} as they are. */
export function rawEventsOf(rows: Rows = []): RawEvent[] {
  return rows.map((row) => ({
    position: Number(row[0]),
    eventId: row[1] as string,
    kind: row[2] as EventKind,
    recordedAt: timeOf(row[3]) ?? "",
    readAt: timeOf(row[4]),
    body: bytesOf(row[5]),
    salt: bytesOf(row[6]),
  }));
}

/** Reads rows of {@linkcode EVENT_COLUMNS}. What a body says is worked out anew. */
export function eventsOf(rows: Rows = []): RecordedEvent[] {
  return rawEventsOf(rows).map((event) => ({
    ...columnsOf(event.kind, event.body),
    ...event,
  }));
}

/** Reads events that decide something. */
export async function readEvents(
  driver: Driver,
  from: string,
  ...args: readonly SqlValue[]
): Promise<RecordedEvent[]> {
  const select = statement(`SELECT ${EVENT_COLUMNS} FROM ${from}`, ...args);
  return eventsOf((await readDeciding(driver, [select]))[0]);
}

/** Reads events that are shown; a replica may be behind. */
export async function selectEvents(
  driver: Driver,
  from: string,
  ...args: readonly SqlValue[]
): Promise<RecordedEvent[]> {
  const sql = `SELECT ${EVENT_COLUMNS} FROM ${from}`;
  return eventsOf(await select(driver, sql, ...args));
}

function columnsOf(kind: EventKind, body: Uint8Array) {
  try {
    return derive(kind, body).columns;
  } catch {
    // Only a webhook may be anything; another body was altered in the file.
    return derive("webhook", new Uint8Array()).columns;
  }
}

/**
 * Appends events in one statement, however many. What is stored already is left
 * as it is, so a retry doubles nothing.
 *
 * @throws {TypeError} When an id is not well formed or holds NUL.
 */
export function appendStatement(events: readonly UnreadEvent[]): Statement {
  const size = events.reduce((sum, { body }) => sum + body.length + SALT, 0);
  const blob = new Uint8Array(size);
  let end = 0;
  const rows = events.map((event) => {
    const { eventId, kind, recordedAt, readAt, body, salt } = event;
    checkText(eventId);
    blob.set(body, end);
    blob.set(salt.subarray(0, SALT), end + body.length);
    // SQL counts bytes from one.
    const at = end + 1;
    end += body.length + SALT;
    const times = [storedTime(recordedAt), storedTime(readAt)];
    return [eventId, kind, ...times, at, body.length, at + body.length];
  });
  return { sql: APPEND, args: [blob, JSON.stringify(rows)] };
}

const SALT = 16;

// The limit changes nothing but that SQLite does not parse a row once a column.
const APPEND = `INSERT INTO events (id, kind, recorded_at, read_at, body, salt)
  SELECT e ->> 0, e ->> 1, e ->> 2, e ->> 3,
    substr(?1, e ->> 4, e ->> 5), substr(?1, e ->> 6, ${SALT})
  FROM (SELECT value AS e FROM json_each(?2) LIMIT -1)
  WHERE true ON CONFLICT (id) DO NOTHING`;

function checkText(eventId: string): void {
  if (eventId.isWellFormed() && !eventId.includes("\0")) return;
  throw new TypeError(
    `Cannot append event ${JSON.stringify(eventId)}: ` +
      "its id is not well formed or holds NUL; mint another",
  );
}

/** Lower-case hex of bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString("hex");
}

/** Sets the time from which transitions are sent, unless it is set. */
export function stampLive(atMs: number): Statement {
  return {
    sql: "UPDATE ledger SET live_from = ? WHERE live_from IS NULL",
    args: [Math.floor(atMs)],
  };
}
