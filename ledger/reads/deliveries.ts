/** The deliveries of a ledger: lists, one body, and which repeat another. */
import { defined } from "../../core/guards.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Driver } from "../store/driver/driver.ts";
import { select } from "../store/database.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  type RawEvent,
  rawEventsOf,
  selectEvents,
} from "../store/events.ts";
import { allEvents } from "../transfer/export.ts";
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

/** Deliveries read at once. */
const AT_ONCE = 500;

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
export function listDeliveries(
  driver: Driver,
  query: DeliveryQuery = {},
): AsyncGenerator<StoredDelivery> {
  const all: DeliveryQuery & PageQuery = { ...query, limit: AT_ONCE };
  return readAll(all, (page) => readDeliveryPage(driver, page));
}

/**
 * Reads one page of deliveries, the last received first; of an order or a user,
 * and of those without a type, the last stored first.
 */
export function readDeliveryPage(
  driver: Driver,
  { after, limit, ...query }:
    & DeliveryQuery
    & Pick<PageQuery, "after" | "limit">,
): Promise<ListPage<StoredDelivery>> {
  return readPage(driver, listOf(query), defined({ after, limit }));
}

function listOf(query: DeliveryQuery): List<StoredDelivery> {
  const { type, receivedFrom, receivedBefore, quarantined } = query;
  const owner = ownerOf(query);
  // By its end a list goes up to a time, and after one.
  const before = (field: string) => (time: string) => queryMs(field, time) - 1;
  const after = asked(receivedFrom, before("receivedFrom"));
  const upTo = asked(receivedBefore, before("receivedBefore"));
  return {
    ...{ table: "events", as: "e", no: "position", columns: EVENT_COLUMNS },
    ...owner === null
      ? { at: "recorded_at", after, upTo, ranges: [where("kind = 'webhook'")] }
      : {
        ...{ at: null, after: [], upTo: [] },
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

/** Reads the newest events after a position as they are stored, the last first. */
export async function readNewestEvents(
  driver: Driver,
  after: number,
  limit: number,
): Promise<RawEvent[]> {
  const rows = await select(
    driver,
    `SELECT ${EVENT_COLUMNS} FROM events AS e
      WHERE e.position > ? ORDER BY e.position DESC LIMIT ?`,
    ...[after, limit],
  );
  return rawEventsOf(rows);
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
