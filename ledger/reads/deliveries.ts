/** The deliveries of a ledger: lists, one body, and which repeat another. */
import {
  classifyOccurrences,
  type Occurrence,
  type OccurrenceOptions,
} from "../explain/occurrences.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { bytesOf, read, select, statement } from "../store/database.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  msOf,
  selectEvents,
  type StoredEvent,
  timeOf,
} from "../store/events.ts";
import {
  allOf,
  asked,
  type Condition,
  pageSize,
  queryMs,
  where,
} from "./pages.ts";

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

/** A delivery after which a list goes on. */
export interface DeliveryPlace {
  /** Its position. */
  readonly position: number;
  /** When it was received, UTC ISO 8601. */
  readonly receivedAt: string;
}

/** One page of deliveries. */
export interface DeliveryPage {
  /** The deliveries, newest first. */
  readonly deliveries: readonly StoredDelivery[];
  /**
   * `after` of the next page; null on the last one. A page that looked through
   * many deliveries of other types may have few or none, and not be the last.
   */
  readonly next: DeliveryPlace | null;
  /** Whether the page ended because of that. */
  readonly isSearched: boolean;
}

/** Deliveries that one page looks through for a type, and in one statement. */
const MOST_SEARCHED = 50_000;
const STEP = 5_000;

/** Deliveries read at once. */
const AT_ONCE = 500;
const LEAST = 100;

/**
 * Lists the deliveries of a ledger, the newest first.
 *
 * @param driver The ledger's database.
 * @param query Which ones.
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
export async function* listDeliveries(
  driver: Driver,
  query: DeliveryQuery = {},
): AsyncGenerator<StoredDelivery> {
  let after: DeliveryPlace | null | undefined;
  while (after !== null) {
    const page: DeliveryPage = await readDeliveryPage(driver, {
      ...query,
      ...(after && { after }),
      limit: AT_ONCE,
    });
    yield* page.deliveries;
    after = page.next;
  }
}

/**
 * Reads one page of deliveries, the last received first; of an order or a user,
 * and of those without a type, the last stored first.
 */
export async function readDeliveryPage(
  driver: Driver,
  { after, limit, ...query }: DeliveryQuery & {
    /** Only those after this one. @default {from the newest on} */
    readonly after?: DeliveryPlace;
    /** At most this many, 1 to 1000. @default 100 */
    readonly limit?: number;
  },
): Promise<DeliveryPage> {
  const size = pageSize(limit);
  const found: StoredDelivery[] = [];
  let from: DeliveryPlace | null = after ?? null;
  let isEnd = false;
  for (
    let searched = 0;
    !isEnd && found.length <= size && searched < MOST_SEARCHED;
    searched += STEP
  ) {
    // Some are read in vain, so that few at once would be many times.
    const wanted = Math.max(size + 1 - found.length, LEAST);
    const [rows, ends] = await read(driver, selectStep(query, from, wanted));
    const step = eventsOf(rows).map(deliveryOf);
    found.push(...step.filter((one) => isOf(one, query)));
    const last: DeliveryPlace | undefined = step.length === wanted
      ? step.at(-1)
      : ends?.map(([receivedAt, position]) => ({
        ...{ position: Number(position), receivedAt: timeOf(receivedAt) ?? "" },
      }))[0];
    isEnd = last === undefined;
    from = last ?? from;
  }
  const deliveries = found.slice(0, size);
  const isCut = found.length > size;
  const next = isCut ? deliveries.at(-1) : isEnd ? null : from;
  return { deliveries, next: next ?? null, isSearched: !isCut && !isEnd };
}

/**
 * The statements that read the next deliveries, at most so many, and where a step
 * ends that looked through more.
 */
function selectStep(
  query: DeliveryQuery,
  from: DeliveryPlace | null,
  wanted: number,
): Statement[] {
  const { type, receivedFrom, receivedBefore } = query;
  const owner = ownerOf(query);
  const webhooks = [
    where("e.kind = 'webhook'"),
    ...asked(
      receivedFrom,
      (time) => where("e.recorded_at >= ?", queryMs("receivedFrom", time)),
    ),
    // By time of receipt, the place after which it goes on lies before that.
    ...asked(from === null || owner !== null ? receivedBefore : undefined, (
      time,
    ) => where("e.recorded_at < ?", queryMs("receivedBefore", time))),
  ];
  const typed = asked(type, (one) =>
    // With an escape it may be written in other ways.
    where(
      "(instr(e.body, CAST(? AS BLOB)) > 0 OR instr(e.body, x'5c') > 0)",
      one,
    ));
  if (owner !== null) {
    const before = from?.position ?? Number.MAX_SAFE_INTEGER;
    const { sql, args } = allOf([...webhooks, ...typed]);
    // What is not folded yet is mentioned nowhere: all of it is looked at. Without
    // a limit SQLite drops the order of an inner select.
    return [statement(
      `SELECT ${EVENT_COLUMNS} FROM (
          SELECT position FROM events
          WHERE position > (SELECT position FROM ledger) AND position < ?
          UNION ALL SELECT position FROM mentions
          WHERE ${owner.sql} AND position < ?
          ORDER BY position DESC LIMIT -1) AS m
        CROSS JOIN events AS e ON e.position = m.position
        WHERE ${sql} LIMIT ?`,
      ...[before, ...owner.args, before, ...args, wanted],
    )];
  }
  const { sql, args } = allOf(
    from === null ? webhooks : [
      ...webhooks,
      where(
        "(e.recorded_at, e.position) < (?, ?)",
        ...[msOf(from.receivedAt), from.position],
      ),
    ],
  );
  const step = `SELECT e.recorded_at, e.position FROM events AS e
    WHERE ${sql} ORDER BY e.recorded_at DESC, e.position DESC`;
  const named = allOf(typed);
  const looked = type === undefined ? wanted : STEP;
  return [
    // The left side of CROSS JOIN is the outer loop, and is read in its order.
    statement(
      `SELECT ${EVENT_COLUMNS} FROM (${step} LIMIT ?) AS k
        CROSS JOIN events AS e ON e.position = k.position
        WHERE ${named.sql} LIMIT ?`,
      ...[...args, looked, ...named.args, wanted],
    ),
    ...asked(
      type,
      () => statement(`${step} LIMIT 1 OFFSET ?`, ...args, STEP - 1),
    ),
  ];
}

/** What the deliveries of a query are mentioned under; null where nothing names them. */
function ownerOf({ orderId, userId, quarantined }:
  & {
    readonly [Id in "orderId" | "userId"]?: string | null;
  }
  & { readonly quarantined?: boolean }): Condition | null {
  if (typeof orderId === "string") return named("orders", orderId);
  if (typeof userId === "string") return named("users", userId);
  return quarantined ? where("no = 0") : null;
}

/** The mentions of an order or a user. */
export function named(table: "orders" | "users", id: string): Condition {
  return where(`no = (SELECT no FROM ${table} WHERE id = ?)`, id);
}

function isOf(
  delivery: StoredDelivery,
  { type, orderId, userId, quarantined }: DeliveryQuery,
): boolean {
  return (!quarantined || delivery.quarantined) &&
    (type === undefined || delivery.type === type) &&
    (orderId === undefined || delivery.orderId === orderId) &&
    (userId === undefined || delivery.userId === userId);
}

function deliveryOf(event: StoredEvent): StoredDelivery {
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
 * @param driver The ledger's database.
 * @param id Identifier of its event.
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

/** The kind and body of an event. */
export interface StoredBody {
  /** Place in the ledger. */
  readonly position: number;
  /** What kind of event it is. */
  readonly kind: EventKind;
  /** Its bytes. */
  readonly body: Uint8Array;
}

/** Reads the bodies of the newest events after a position, the last first. */
export async function readNewestBodies(
  driver: Driver,
  after: number,
  limit: number,
): Promise<readonly StoredBody[]> {
  const rows = await select(
    driver,
    `SELECT position, kind, body FROM events
      WHERE position > ? ORDER BY position DESC LIMIT ?`,
    ...[after, limit],
  );
  return rows.map(([position, kind, body]) => ({
    position: Number(position),
    kind: kind as EventKind,
    body: bytesOf(body),
  }));
}

/** Counts deliveries by the digest of their body. */
export async function countDeliveries(
  driver: Driver,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let after = 0;;) {
    const events = await selectEvents(
      driver,
      `events AS e
        WHERE e.position > ? AND e.kind = 'webhook' ORDER BY e.position LIMIT ?`,
      ...[after, AT_ONCE],
    );
    for (const { digest, position } of events) {
      counts.set(digest, (counts.get(digest) ?? 0) + 1);
      after = position;
    }
    if (events.length < AT_ONCE) return counts;
  }
}

/** The whole ladder of attempts of one delivery fits into this time. */
const LADDER_MS = 2 * 86_400_000;

/**
 * Reads the deliveries whose bytes equal those of one delivery, and finds out
 * which of them repeat another and which happened again. Of what names no order
 * and no user those that came within two days are read. All come by time of
 * arrival; none when there is no such delivery.
 */
export async function readOccurrences(
  driver: Driver,
  eventId: string,
  options: OccurrenceOptions = {},
): Promise<Occurrence[]> {
  const delivery = await readDelivery(driver, eventId);
  if (delivery === null) return [];
  const { orderId, userId, body, receivedAt } = delivery;
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
      LIMIT ${MOST_SEARCHED}`,
    ...[...args, body],
  );
  return classifyOccurrences(
    rows.map(([id, recordedAt, isLate]) => ({
      eventId: String(id),
      recordedAt: timeOf(recordedAt) ?? "",
      answered: isLate !== 1,
    })),
    options,
  );
}
