/** The events: how they are stored, appended and read back. */
import { Buffer } from "node:buffer";
import { derive, record, unansweredBody } from "../events/record.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { EventKind } from "../machines/machine.ts";
import {
  busyDelayMs,
  bytesOf,
  type Driver,
  failedWith,
  LedgerError,
  type Rows,
  select,
  selectDeciding,
  type SqlValue,
  type Statement,
  statement,
} from "./database.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import type { Delivery } from "../../core/wire/objects.ts";
import { readRecords } from "../../core/wire/delivery_records.ts";
import {
  type BodyClasses,
  BodyTally,
  bodyValue,
  classify,
} from "../../core/webhook_event/classify_body.ts";

/** What {@linkcode eventsOf} reads, of a table `events AS e`. */
export const EVENT_COLUMNS =
  "e.position, e.id, e.kind, e.recorded_at, e.read_at, e.body, e.salt";

/** A time as milliseconds where that loses nothing, else as it was written. */
export function storedTime(time: string | null): number | string | null {
  const ms = time === null ? NaN : Date.parse(time);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === time ? ms : time;
}

export function timeOf(stored: SqlValue | undefined): string | null {
  if (typeof stored !== "number" && typeof stored !== "bigint") {
    return stored as string | null ?? null;
  }
  return new Date(Number(stored)).toISOString();
}

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

/** What a body says is worked out anew. */
export function eventsOf(rows: Rows = []): RecordedEvent[] {
  return rawEventsOf(rows).map((event) => ({
    ...columnsOf(event.kind, event.body),
    ...event,
  }));
}

type ReadEvents = (
  ...asked: Parameters<typeof select>
) => Promise<RecordedEvent[]>;

const reading =
  (rowsOf: typeof select): ReadEvents => async (driver, from, ...args) =>
    eventsOf(
      await rowsOf(driver, `SELECT ${EVENT_COLUMNS} FROM ${from}`, ...args),
    );

export const readEvents: ReadEvents = reading(selectDeciding);
export const selectEvents: ReadEvents = reading(select);

/** So many after a position, of so many bytes together, but one at least. */
export function nextEvents(
  after: string,
  ...most: readonly number[]
): Statement {
  return statement(
    `SELECT ${EVENT_COLUMNS} FROM events AS e
      WHERE e.position > ${after} AND e.position <= (
        SELECT max(position) FROM (
          SELECT position, size, sum(size) OVER (ORDER BY position) AS total
          FROM (SELECT position, length(body) AS size FROM events
            WHERE position > ${after} ORDER BY position LIMIT ?1))
        WHERE total <= ?2 OR total = size)
      ORDER BY e.position`,
    ...most,
  );
}

function columnsOf(kind: EventKind, body: Uint8Array) {
  try {
    return derive(kind, body).columns;
  } catch {
    // Only a webhook may be anything; another body was altered in the file.
    return derive("webhook", new Uint8Array()).columns;
  }
}

/** What is stored already is left as it is, so a retry doubles nothing. */
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

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString("hex");
}

/** Sets the time from which transitions are sent, unless it is set. */
export function stampLive(atMs: number): Statement {
  return statement(
    "UPDATE ledger SET live_from = ? WHERE live_from IS NULL",
    Math.floor(atMs),
  );
}

interface Appended extends UnreadEvent {
  /** Whether it arrived just now, and was not imported. */
  readonly arrived?: true;
}

export function cryptoBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

interface Call extends PromiseWithResolvers<void> {
  readonly events: readonly Appended[];
  readonly bytes: number;
}

/** Most events, and bytes of bodies, that several callers share a commit with. */
const SHARED_EVENTS = 512;
const SHARED_BYTES = 1 << 20;
/** Most bytes of bodies that may wait. */
const WAITING_BYTES = 64 << 20;

/**
 * It is asked again for this long after the database first did not answer, in ms. The
 * commit may have happened; an event that is appended twice is stored once.
 */
const RETRY_LIMIT_MS = 2000;

/**
 * Lets concurrent callers share one transaction and one sync of the disk: the next
 * group gathers while a commit runs. Each caller gets its own result.
 */
export class EventLog {
  readonly #driver: Driver;
  readonly #now: () => number;
  readonly #randomBytes: typeof cryptoBytes;
  #waiting: Call[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;
  #isLive = false;
  #closed = false;

  constructor(
    driver: Driver,
    { now = Date.now, randomBytes = cryptoBytes }: {
      readonly now?: () => number;
      readonly randomBytes?: typeof cryptoBytes;
    } = {},
  ) {
    this.#driver = driver;
    this.#now = now;
    this.#randomBytes = randomBytes;
  }

  /** All or none. After `unreachable` and `crashed` it is not certain that none is. */
  async append(events: readonly Appended[]): Promise<void> {
    this.#refuseWhenClosed();
    if (events.length === 0) return;
    const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > WAITING_BYTES) {
      throw new LedgerError(
        "overloaded",
        `Too much waits to be written: ${this.#waitingBytes} bytes; ` +
          "nothing was written, try again later",
      );
    }
    const call = { events, bytes, ...Promise.withResolvers<void>() };
    this.#waitingBytes += bytes;
    this.#waiting.push(call);
    this.#running ??= this.#run();
    await call.promise.finally(() => this.#waitingBytes -= bytes);
  }

  appendDelivery(delivery: Delivery): Promise<void> {
    return this.append([this.#arrived(delivery)]);
  }

  /** Not retried: the inbox keeps the records, and hands them over again. */
  async appendRecords(records: Uint8Array): Promise<BodyClasses> {
    this.#refuseWhenClosed();
    const tally = new BodyTally();
    const events = readRecords(records).map((received): Appended => {
      if (!("body" in received)) {
        return record("delivery_unanswered", unansweredBody(received), {
          recordedAt: received.noticedAt,
          salt: this.#randomBytes(16),
        });
      }
      tally.add(received.id, classify(bodyValue(received.body)));
      return this.#arrived(received);
    });
    await this.#write(events);
    const { counts, odd } = tally;
    return { counts, odd };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) {
      throw new LedgerError("closed", "The ledger was closed before");
    }
  }

  #arrived({ id, receivedAt, body }: Delivery): Appended {
    return {
      eventId: id,
      kind: "webhook",
      recordedAt: receivedAt,
      readAt: null,
      body,
      salt: this.#randomBytes(16),
      arrived: true,
    };
  }

  async #run(): Promise<void> {
    // One turn later, so that simultaneous callers share the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#settle(this.#nextGroup());
    this.#running = null;
  }

  #nextGroup(): Call[] {
    let [events, bytes] = [0, 0];
    const end = this.#waiting.findIndex((call, at) => {
      events += call.events.length;
      bytes += call.bytes;
      return at > 0 && (events > SHARED_EVENTS || bytes > SHARED_BYTES);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** Never rejects: each call of the group gets its own result. */
  async #settle(group: readonly Call[]): Promise<void> {
    try {
      await this.#commit(group.flatMap(({ events }) => events));
      for (const { resolve } of group) resolve();
    } catch (error) {
      const poisoned = error instanceof TypeError ||
        failedWith(error, "constraint");
      if (!poisoned || group.length === 1) {
        for (const { reject } of group) reject(error);
        return;
      }
      // What one caller appends was refused. The other callers must succeed.
      const half = group.length >> 1;
      await this.#settle(group.slice(0, half));
      await this.#settle(group.slice(half));
    }
  }

  async #commit(events: readonly Appended[]): Promise<void> {
    let failedAt: number | null = null;
    for (let attempt = 3;; attempt++) {
      try {
        return await this.#write(events);
      } catch (error) {
        // A request alone may take longer than the limit until it is given up.
        failedAt ??= this.#now();
        const isLate = this.#now() - failedAt >= RETRY_LIMIT_MS;
        const isUnanswered = failedWith(error, "unreachable", "crashed");
        if (!isUnanswered || isLate) throw error;
        await sleep(busyDelayMs(attempt, 1));
      }
    }
  }

  async #write(events: readonly Appended[]): Promise<void> {
    const goingLive = this.#isLive ? [] : goLiveWith(events);
    await this.#driver.batch([appendStatement(events), ...goingLive], "write");
    this.#isLive ||= goingLive.length > 0;
  }
}

/** The first delivery sets the time from which transitions are sent. */
function goLiveWith(events: readonly Appended[]): Statement[] {
  const [first] = events.filter(({ arrived }) => arrived)
    .map(({ recordedAt }) => recordedAt).sort();
  return first === undefined ? [] : [stampLive(Date.parse(first))];
}
