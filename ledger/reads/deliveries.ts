/** The deliveries of a ledger: lists, one body, which repeat another, and whether they come. */
import type { RecordedEvent } from "../events/event.ts";
import {
  type Driver,
  listed,
  read,
  select,
  selectValue,
  statement,
} from "../store/database.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  nextEvents,
  type RawEvent,
  rawEventsOf,
  selectEvents,
  timeOf,
} from "../store/events.ts";
import { allEvents } from "../transfer/transfer.ts";
import {
  asked,
  type Condition,
  type List,
  type ListPage,
  type PageQuery,
  queryMs,
  readAll,
  readPage,
  where,
} from "./pages.ts";
import {
  ATTEMPTS_FROM_FIRST_MS,
  ATTEMPTS_FROM_PREVIOUS_MS,
} from "../../core/waiting/waiting.ts";
import { compareText } from "../machines/machine.ts";
import { readFact } from "../events/read_fact.ts";

/** A webhook delivery as it is stored. */
export interface StoredDelivery {
  /** Place in the ledger. */
  readonly position: number;
  /** Identifier of its event, given at receipt. */
  readonly id: string;
  /** When it was received, UTC ISO 8601. */
  readonly receivedAt: string;
  /** Type as sent; null when it is quarantined. */
  readonly type: string | null;
  /** Whether the body is not a JSON object with a type. */
  readonly quarantined: boolean;
  /** Order that it names; null when it names none. */
  readonly orderId: string | null;
  /** User that it names; null when it names none. */
  readonly userId: string | null;
  /** Click id that it names; null when it names none. */
  readonly clickId: string | null;
  /** Length of the body in bytes. */
  readonly bytes: number;
}

/** Which deliveries to read. */
export interface DeliveryQuery {
  /** Only bodies that are not a JSON object with a type. @default {false} */
  readonly quarantined?: boolean;
  /** Only those that name this order. */
  readonly orderId?: string;
  /** Only those that name this user. */
  readonly userId?: string;
  /** Only those of this type, as it was sent. */
  readonly type?: string;
  /** Only what was received then or later, ISO 8601 with a zone. */
  readonly receivedFrom?: string;
  /** Only what was received before, ISO 8601 with a zone. */
  readonly receivedBefore?: string;
}

/**
 * Lists the deliveries of a ledger, the newest first.
 *
 * @throws {LedgerError} When the database fails.
 *
 * @example Look at what could not be read
 * ```ts
 * import { listDeliveries, openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * await ledger.appendDelivery({
 *   id: "01JD3Q5XK6T0V0QK3WZ5R5Q0ZV",
 *   receivedAt: "2026-11-20T12:00:00.000Z",
 *   body: new TextEncoder().encode("no JSON"),
 * });
 * const found = await Array.fromAsync(
 *   listDeliveries(ledger.driver, { quarantined: true }),
 * );
 * assert.equal(found[0]?.bytes, 7);
 * ```
 */
export function listDeliveries(
  driver: Driver,
  query: DeliveryQuery = {},
): AsyncGenerator<StoredDelivery> {
  const all: DeliveryQuery & PageQuery = { ...query, limit: 500 };
  return readAll(all, (page) => readDeliveryPage(driver, page));
}

/**
 * Reads one page of deliveries, the last received first; of an order or a user,
 * and of those without a type, the last stored first.
 */
export function readDeliveryPage(
  driver: Driver,
  query: DeliveryQuery & Pick<PageQuery, "after" | "limit">,
): Promise<ListPage<StoredDelivery>> {
  return readPage(driver, listOf(query), query);
}

function listOf(query: DeliveryQuery): List<StoredDelivery> {
  const { type, receivedFrom, receivedBefore, quarantined } = query;
  const owner = ownerOf(query);
  // By its end a list goes up to a time, and after one.
  const before = (field: string) => (time: string) => queryMs(field, time) - 1;
  const after = asked(receivedFrom, before("receivedFrom"));
  const upTo = asked(receivedBefore, before("receivedBefore"));
  return {
    ...{ from: "events AS e", no: "position", columns: EVENT_COLUMNS },
    ...owner === null
      ? { at: "recorded_at", after, upTo, ranges: [where("kind = 'webhook'")] }
      : {
        ...{ at: "position", after: [], upTo: [] },
        // What is not folded yet is mentioned nowhere: all of it is looked at.
        ranges: [
          where("position > (SELECT position FROM ledger)"),
          { ...owner, from: "mentions" },
        ],
        mostSearched: Infinity,
      },
    where: [
      ...owner === null ? [] : [
        where("e.kind = 'webhook'"),
        ...after.map((ms) => where("e.recorded_at > ?", ms)),
        ...upTo.map((ms) => where("e.recorded_at <= ?", ms)),
      ],
      // With an escape it may be written in other ways.
      ...asked(type, (one) =>
        where(
          "instr(e.body, CAST(? AS BLOB)) > 0 OR instr(e.body, x'5c') > 0",
          one,
        )),
    ],
    viewsOf: (rows) => eventsOf(rows).map(deliveryOf),
    holds: (one) =>
      (!quarantined || one.quarantined) &&
      (["type", "orderId", "userId"] as const).every((field) =>
        query[field] === undefined || query[field] === one[field]
      ),
  };
}

/** What the deliveries of a query are mentioned under; null where nothing names them. */
export function ownerOf(
  { orderId, userId, quarantined }: Partial<
    Pick<StoredDelivery, "orderId" | "userId" | "quarantined">
  >,
): Condition | null {
  if (typeof orderId === "string") return named("orders", orderId);
  if (typeof userId === "string") return named("users", userId);
  return quarantined ? where("no = 0") : null;
}

/** The mentions of an order or a user. */
export function named(table: "orders" | "users", id: string): Condition {
  return where(`no = (SELECT no FROM ${table} WHERE id = ?)`, id);
}

function deliveryOf(event: RecordedEvent): StoredDelivery {
  const { position, eventId: id, recordedAt: receivedAt, type } = event;
  const { orderId, userId, clickId, body } = event;
  return {
    ...{ position, id, receivedAt, type, quarantined: type === null },
    ...{ orderId, userId, clickId, bytes: body.length },
  };
}

/**
 * Reads one delivery with its body.
 *
 * @returns The delivery and the exact bytes received; or null when there is no
 * such delivery.
 * @throws {LedgerError} When the database fails.
 *
 * @example Ask for one that is not there
 * ```ts
 * import { openLedger, readDelivery } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * assert.equal(await readDelivery(ledger.driver, "unknown"), null);
 * ```
 */
export async function readDelivery(
  driver: Driver,
  id: string,
): Promise<
  (StoredDelivery & { readonly body: Uint8Array<ArrayBuffer> }) | null
> {
  const from = "events AS e WHERE e.id = ? AND e.kind = 'webhook'";
  const [event] = await selectEvents(driver, from, id);
  return event === undefined
    ? null
    : { ...deliveryOf(event), body: new Uint8Array(event.body) };
}

/** Reads the newest events after a position as they are stored, the last first. */
export async function readNewestEvents(
  driver: Driver,
  after: number,
  limit: number,
): Promise<RawEvent[]> {
  const sql = `SELECT ${EVENT_COLUMNS} FROM events AS e
    WHERE e.position > ? ORDER BY e.position DESC LIMIT ?`;
  return rawEventsOf(await select(driver, sql, after, limit));
}

/** Counts deliveries by the digest of their body. */
export async function countDeliveries(
  driver: Driver,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { kind, digest } of allEvents(driver)) {
    if (kind === "webhook") counts.set(digest, (counts.get(digest) ?? 0) + 1);
  }
  return counts;
}

/** How a delivery relates to others with the same body. */
export interface Occurrence {
  /** Identifier of the event. */
  readonly eventId: string;
  /** When it arrived, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /**
   * - `occurrence`: it happened again.
   * - `retry`: it repeats a delivery that is known to be unanswered.
   * - `possibleRepeat`: it comes at a time of the retry schedule after an answered
   *   delivery, so that the answer may have been lost, or it happened again.
   */
  readonly as: "occurrence" | "retry" | "possibleRepeat";
  /** `eventId` of the delivery it repeats; null for an occurrence. */
  readonly of: string | null;
  /** Time since that delivery; null for an occurrence. */
  readonly gapMs: number | null;
}

/**
 * How far a retry may be from its scheduled time. It covers the seconds the service
 * waited for the answer and the delay of its own queue.
 */
const TOLERANCE_MS = 60_000;

/** Every gap that two attempts can have, attempts that never arrived in between. */
const REPEAT_GAPS_MS = [ATTEMPTS_FROM_FIRST_MS, ATTEMPTS_FROM_PREVIOUS_MS]
  .flatMap((attempts) =>
    attempts.flatMap((later, place) =>
      attempts.slice(0, place).map((earlier) => later - earlier)
    )
  );

const LONGEST_MS = Math.max(...REPEAT_GAPS_MS) + TOLERANCE_MS;

/**
 * Finds out which of several deliveries with equal bodies are repeats: a login may
 * happen twice with the same bytes, and the service repeats without an id what was not
 * answered. Each repeats one other at most, and is repeated once: an unanswered one
 * goes before an answered one, the nearer to a scheduled time before the farther.
 */
export function classifyOccurrences(
  deliveries: readonly (Pick<Occurrence, "eventId" | "recordedAt"> & {
    /** False when it is known that its sender got no timely 2xx. */
    readonly answered: boolean;
  })[],
): Occurrence[] {
  const arrived = deliveries.map((one) => ({
    ...one,
    atMs: Date.parse(one.recordedAt),
  })).sort((a, b) => a.atMs - b.atMs || compareText(a.eventId, b.eventId));
  let open: typeof arrived = [];
  return arrived.map((delivery) => {
    const { eventId, recordedAt, atMs } = delivery;
    open = open.filter((earlier) => atMs - earlier.atMs <= LONGEST_MS);
    const [best] = open
      .map((one) => ({ ...one, off: offScheduleMs(atMs - one.atMs) }))
      .filter(({ off }) => off <= TOLERANCE_MS).sort((a, b) =>
        Number(a.answered) - Number(b.answered) || a.off - b.off
      );
    // What was repeated once is repeated next from its repeat.
    open = [...open.filter((one) => one.eventId !== best?.eventId), delivery];
    const as = best === undefined
      ? "occurrence"
      : best.answered
      ? "possibleRepeat"
      : "retry";
    const gapMs = best === undefined ? null : atMs - best.atMs;
    return { eventId, recordedAt, as, of: best?.eventId ?? null, gapMs };
  });
}

/** How far a gap is from the nearest one of the retry schedule. */
function offScheduleMs(gapMs: number): number {
  return Math.min(...REPEAT_GAPS_MS.map((one) => Math.abs(gapMs - one)));
}

/** The whole ladder of attempts of one delivery fits into this time. */
const LADDER_MS = 2 * 86_400_000;

/** Deliveries of the same bytes that are held against each other, the nearest. */
const MOST_EQUAL = 1_000;

/**
 * Reads the deliveries whose bytes equal those of one, by time of arrival. Of what
 * names no order and no user those that came within two days are read.
 */
export async function readOccurrences(
  driver: Driver,
  eventId: string,
): Promise<Occurrence[]> {
  const delivery = await readDelivery(driver, eventId);
  if (delivery === null) return [];
  const { orderId, userId, body, receivedAt, position } = delivery;
  const owner = ownerOf({ orderId, userId });
  const receivedMs = Date.parse(receivedAt);
  const from = owner === null
    ? "events AS e"
    : "mentions AS m CROSS JOIN events AS e ON e.position = m.position";
  const { sql, args } = owner ?? where(
    "e.recorded_at BETWEEN ? AND ?",
    ...[receivedMs - LADDER_MS, receivedMs + LADDER_MS],
  );
  const rows = await select(
    driver,
    `SELECT e.id, e.recorded_at, EXISTS (SELECT 1 FROM unanswered AS u
        WHERE u.event_id = e.id)
      FROM ${from} WHERE ${sql} AND e.kind = 'webhook' AND e.body = ?
      ORDER BY abs(e.position - ?) LIMIT ${MOST_EQUAL}`,
    ...[...args, body, position],
  );
  return classifyOccurrences(
    rows.map(([id, recordedAt, isLate]) => ({
      eventId: String(id),
      recordedAt: timeOf(recordedAt) ?? "",
      answered: isLate !== 1,
    })),
  );
}

/** An event, as far as it tells whether deliveries come. */
export interface DeliveryLogRow extends
  Pick<
    RecordedEvent,
    "position" | "kind" | "eventId" | "type" | "recordedAt"
  > {
  /** The delivery that was not answered in time, of a report of one. */
  readonly unansweredId: string | null;
  /**
   * Of a webhook: whether the service has shown what it names. Where it was
   * never read every webhook counts: there is nothing to hold them against.
   */
  readonly shown: boolean;
  readonly ofOrder: boolean;
  /** Of a reading: the latest webhook before it that names what it shows. */
  readonly named: Pick<RecordedEvent, "eventId" | "recordedAt"> | null;
}

/** Events of one entity that are looked through for a webhook. */
const LOOKED_THROUGH = 100;

/** Bytes of events that are read at once. */
const LOG_BYTES = 4 << 20;

/** Reads the next events after a position that are folded; none at the last. */
export async function readDeliveryLog(
  driver: Driver,
  after: number,
  limit: number,
): Promise<readonly DeliveryLogRow[]> {
  const [next, [[folded = 0] = []] = []] = await read(driver, [
    nextEvents("?3", limit, LOG_BYTES, after),
    statement("SELECT position FROM ledger"),
  ]);
  const events = eventsOf(next).filter(({ position }) =>
    position <= Number(folded)
  );
  const isShown = await shownIn(driver, events);
  const before = await webhooksBefore(driver, events);
  return events.map((event) => {
    const { position, kind, eventId, type, recordedAt } = event;
    const fact = kind === "delivery_unanswered" ? readFact(event) : null;
    return {
      ...{ position, kind, eventId, type, recordedAt },
      unansweredId: fact?.kind === "delivery_unanswered"
        ? fact.deliveryId
        : null,
      shown: kind === "webhook" && isShown(event),
      ofOrder: (event.orderId ?? "") !== "",
      named: before.get(position) ?? null,
    };
  });
}

/** Tells of some webhooks whether the service has shown what they name. */
async function shownIn(
  driver: Driver,
  events: readonly RecordedEvent[],
): Promise<(webhook: RecordedEvent) => boolean> {
  const shown = (table: "orders" | "users", ids: string) =>
    `SELECT '${table} ' || id FROM ${table}
      WHERE id IN (SELECT value FROM json_each(${ids})) AND shown = 1`;
  const rows = await select(
    driver,
    `${shown("orders", "?1")} UNION ALL ${shown("users", "?2")}
      UNION ALL SELECT '' WHERE NOT EXISTS (SELECT 1 FROM orders WHERE shown = 1)
        AND NOT EXISTS (SELECT 1 FROM users WHERE shown = 1)`,
    listed(new Set(events.map(({ orderId }) => orderId ?? ""))),
    listed(new Set(events.map(({ userId }) => userId ?? ""))),
  );
  const known = new Set(rows.map(([id]) => id));
  return ({ orderId, userId }) =>
    known.has("") ||
    known.has(orderId ? `orders ${orderId}` : `users ${userId}`);
}

/** The latest webhook before each reading about what it shows, by its position. */
async function webhooksBefore(
  driver: Driver,
  events: readonly RecordedEvent[],
): Promise<ReadonlyMap<number, RecordedEvent | undefined>> {
  const readings = events.flatMap(({ kind, position, orderId, userId }) =>
    kind === "order_snapshot"
      ? [{ position, isOrder: true, owner: named("orders", orderId ?? "") }]
      : kind === "user_snapshot"
      ? [{ position, isOrder: false, owner: named("users", userId ?? "") }]
      : []
  );
  const all = readings.length === 0 ? [] : await read(
    driver,
    readings.map(({ position, isOrder, owner }) =>
      statement(
        `SELECT ${EVENT_COLUMNS} FROM mentions AS m
          CROSS JOIN events AS e ON e.position = m.position
          WHERE ${owner.sql} AND m.position < ? AND e.kind = 'webhook'
          ORDER BY m.position DESC LIMIT ${isOrder ? 10 : LOOKED_THROUGH}`,
        ...[...owner.args, position],
      )
    ),
  );
  return new Map(readings.map(({ position, isOrder }, at) => [
    position,
    eventsOf(all[at]).find(({ type, orderId }) =>
      type !== "test" && (isOrder || (orderId ?? "") === "")
    ),
  ]));
}

/** When the last webhook up to a position came that names what the service shows. */
export async function readLastWebhook(
  driver: Driver,
  position: number,
): Promise<string | null> {
  for (let before = position + 1;;) {
    const events = await selectEvents(
      driver,
      `events AS e
        WHERE e.position < ? AND e.kind = 'webhook'
        ORDER BY e.position DESC LIMIT ?`,
      ...[before, LOOKED_THROUGH],
    );
    const isShown = await shownIn(driver, events);
    const last = events.find((one) =>
      one.type !== null && one.type !== "test" && isShown(one)
    );
    if (last !== undefined) return last.recordedAt;
    if (events.length < LOOKED_THROUGH) return null;
    before = events.at(-1)?.position ?? 0;
  }
}

/** When the oldest delivery came that is not folded yet; null where none is. */
export async function readUnfoldedSince(
  driver: Driver,
): Promise<string | null> {
  // A spool hands over late what came before others.
  const sql = `SELECT min(recorded_at) FROM (SELECT recorded_at FROM events
    WHERE position > (SELECT position FROM ledger) AND kind = 'webhook'
    ORDER BY position LIMIT 1000)`;
  return timeOf(await selectValue(driver, sql));
}

/** When the last reading among the last thousand events was recorded; else null. */
export async function readLateReading(driver: Driver): Promise<string | null> {
  const sql = `SELECT max(recorded_at) FROM (
      SELECT kind, recorded_at FROM events ORDER BY position DESC LIMIT 1000)
    WHERE kind IN ('order_snapshot', 'user_snapshot', 'order_absent')`;
  return timeOf(await selectValue(driver, sql));
}

/** Reads the position of the last event; 0 where there is none. */
export async function readLastPosition(driver: Driver): Promise<number> {
  return Number(await selectValue(driver, "SELECT max(position) FROM events"));
}
