/** The events: how they are stored, appended and read back. */
import { Buffer } from "node:buffer";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import { readRecords } from "../../core/wire/delivery_records.ts";
import {
  type BodyClasses,
  BodyTally,
  bodyValue,
  classify,
} from "../../core/webhook_event/classify_body.ts";
import { derive, record, unansweredBody } from "../events/record.ts";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Driver, SqlValue, Statement } from "./driver/driver.ts";
import { LedgerError } from "./driver/errors.ts";
import { busyDelayMs } from "./driver/retrying_driver.ts";
import { GroupCommit, type GroupCommitOptions } from "./group_commit.ts";
import {
  bytesOf,
  readDeciding,
  type Rows,
  select,
  statement,
} from "./database.ts";

/** An event as it is stored: nothing of it is ever missing. */
export interface StoredEvent extends RecordedEvent {
  readonly body: Uint8Array;
  readonly digest: string;
  readonly salt: Uint8Array;
}

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
  StoredEvent,
  "position" | "eventId" | "kind" | "recordedAt" | "readAt" | "body" | "salt"
>;

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
export function eventsOf(rows: Rows = []): StoredEvent[] {
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
): Promise<StoredEvent[]> {
  const select = statement(`SELECT ${EVENT_COLUMNS} FROM ${from}`, ...args);
  return eventsOf((await readDeciding(driver, [select]))[0]);
}

/** Reads events that are shown; a replica may be behind. */
export async function selectEvents(
  driver: Driver,
  from: string,
  ...args: readonly SqlValue[]
): Promise<StoredEvent[]> {
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
export function appendStatement(events: readonly NewEvent[]): Statement {
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

/** The event of a delivery, as it is appended: what it says is read later. */
export function deliveryEvent(delivery: Delivery, salt: Uint8Array): NewEvent {
  return {
    eventId: delivery.id,
    kind: "webhook",
    ...{ type: null, orderId: null, userId: null, clickId: null },
    occurredAt: null,
    recordedAt: delivery.receivedAt,
    readAt: null,
    body: delivery.body,
    digest: "",
    salt,
  };
}

/** Lower-case hex of bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString("hex");
}

/** An event that waits for its commit. */
interface Waiting extends NewEvent {
  /** Whether it arrived just now, and was not imported. */
  readonly arrived?: true;
}

/** Limits of an {@linkcode EventLog}. */
export interface EventLogOptions extends GroupCommitOptions {
  /**
   * Retries for this long after the database first did not answer, in ms. The
   * commit may have happened; an event that is appended twice is stored once.
   *
   * @default 2000
   */
  readonly retryLimitMs?: number;
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  readonly randomBytes?: (length: number) => Uint8Array;
}

/** Appends the events of a ledger; those that wait for each other share a commit. */
export class EventLog {
  readonly #driver: Driver;
  readonly #options: EventLogOptions;
  readonly #group: GroupCommit<Waiting>;
  readonly #randomBytes: (length: number) => Uint8Array;
  #isLive = false;
  #closed = false;

  constructor(driver: Driver, options: EventLogOptions = {}) {
    this.#driver = driver;
    this.#options = options;
    this.#randomBytes = options.randomBytes ?? randomBytes;
    this.#group = new GroupCommit((events) => this.#commit(events), options);
  }

  /**
   * Appends events, all or none, and resolves after the commit that holds them.
   *
   * @throws {LedgerError} Nothing was written; after `unreachable` and `crashed`
   * that is not certain.
   */
  async append(events: readonly Waiting[]): Promise<void> {
    this.#refuseWhenClosed();
    await this.#group.append(events);
  }

  appendDelivery(delivery: Delivery): Promise<void> {
    const event = deliveryEvent(delivery, this.#randomBytes(SALT));
    return this.append([{ ...event, arrived: true }]);
  }

  /**
   * Appends what an inbox hands over, in one transaction. It is not retried here:
   * the inbox keeps the records, and hands them over again.
   */
  async appendRecords(records: Uint8Array): Promise<BodyClasses> {
    this.#refuseWhenClosed();
    const tally = new BodyTally();
    const events = readRecords(records).map((received): Waiting => {
      const salt = this.#randomBytes(SALT);
      if (!("body" in received)) {
        return record("delivery_unanswered", unansweredBody(received), {
          recordedAt: received.noticedAt,
          salt,
        });
      }
      tally.add(received.id, classify(bodyValue(received.body)));
      return { ...deliveryEvent(received, salt), arrived: true };
    });
    const goingLive = this.#isLive ? [] : goLiveWith(events);
    await this.#driver.batch([appendStatement(events), ...goingLive], "write");
    this.#isLive ||= goingLive.length > 0;
    const { counts, odd } = tally;
    return { counts, odd };
  }

  #refuseWhenClosed(): void {
    if (this.#closed) {
      throw new LedgerError("closed", "The ledger was closed before");
    }
  }

  /** Refuses further events and waits for those being written. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#group.idle();
  }

  async #commit(events: readonly Waiting[]): Promise<void> {
    const { retryLimitMs = 2000, now = Date.now, sleep = sleepFor } =
      this.#options;
    const goingLive = this.#isLive ? [] : goLiveWith(events);
    const statements = [appendStatement(events), ...goingLive];
    let failedAt: number | null = null;
    for (let attempt = 0;; attempt++) {
      try {
        await this.#driver.batch(statements, "write");
        this.#isLive ||= goingLive.length > 0;
        return;
      } catch (error) {
        // A request alone may take longer than the limit until it is given up.
        failedAt ??= now();
        if (!isUnanswered(error) || now() - failedAt >= retryLimitMs) {
          throw error;
        }
        await sleep(busyDelayMs(attempt + 3, 1));
      }
    }
  }
}

/** The first delivery sets the time from which transitions are sent. */
function goLiveWith(events: readonly Waiting[]): Statement[] {
  const [first] = events.filter(({ arrived }) => arrived)
    .map(({ recordedAt }) => recordedAt).sort();
  return first === undefined ? [] : [stampLive(Date.parse(first))];
}

/** Sets the time from which transitions are sent, unless it is set. */
export function stampLive(atMs: number): Statement {
  return {
    sql: "UPDATE ledger SET live_from = ? WHERE live_from IS NULL",
    args: [Math.floor(atMs)],
  };
}

function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Whether the commit may have happened without an answer. */
function isUnanswered(error: unknown): boolean {
  return error instanceof LedgerError &&
    (error.code === "unreachable" || error.code === "crashed");
}
