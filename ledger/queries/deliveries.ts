import {
  classifyOccurrences,
  type Occurrence,
  type OccurrenceOptions,
} from "../explain/occurrences.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import {
  countByDigest,
  DELIVERIES,
  type DeliveryFilter,
  type DeliveryPlace,
  selectDelivery,
  selectNaming,
  selectReceived,
  selectReceivedStepEnd,
  selectSameBytes,
  type StoredDelivery,
} from "../store/tables/deliveries.ts";
import {
  selectNewestBodies,
  type StoredBody,
} from "../store/tables/events/events.ts";
import { pageSize, queryTime } from "../store/tables/query_values.ts";
import { walkIndex } from "../store/tables/lists/walk.ts";

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

/** Deliveries read at once. */
const walkedAtOnce = 500;

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
  let next: DeliveryPlace | null = null;
  do {
    const page: DeliveryPage = await readDeliveryPage(driver, {
      ...query,
      ...(next === null ? {} : { after: next }),
      limit: walkedAtOnce,
    });
    yield* page.deliveries;
    next = page.next;
  } while (next !== null);
}

/**
 * Reads one page of deliveries, the newest first.
 *
 * @param query Which ones: after which, and how many at most.
 * @throws {RangeError} When the limit is not from 1 to 1000.
 * @throws {LedgerError} When the database fails.
 */
export async function readDeliveryPage(
  driver: Driver,
  query: DeliveryQuery & {
    /** Only those after this one. @default {from the newest on} */
    readonly after?: DeliveryPlace;
    /** At most this many, 1 to 1000. @default 100 */
    readonly limit?: number;
    /** Most deliveries that are searched for a type. @default {WALK_STEPS} */
    readonly steps?: readonly number[];
  },
): Promise<DeliveryPage> {
  const { after = null, limit, steps, ...filter } = query;
  const size = pageSize(limit);
  const wanted: DeliveryFilter = {
    ...filter,
    ...timesOf(query, ["receivedFrom", "receivedBefore"]),
  };
  const read = async (statement: Statement) =>
    (await driver.batch([statement], "read"))[0]?.rows ?? [];
  const isNaming = (filter.orderId ?? filter.userId) !== undefined;
  // Of a type nobody knows how many there are.
  const { rows, end } = filter.type === undefined || isNaming
    ? {
      rows: await read(
        isNaming
          ? selectNaming(wanted, after, size + 1)
          : selectReceived(wanted, { from: after }, size + 1),
      ),
      end: null,
    }
    : await walkIndex<readonly SqlValue[], DeliveryPlace>(
      {
        end: async (from, step) => {
          const [row] = await read(selectReceivedStepEnd(wanted, from, step));
          return row === undefined
            ? null
            : { receivedAt: String(row[0]), position: Number(row[1]) };
        },
        read: (from, to) =>
          read(selectReceived(wanted, { from, to }, size + 1)),
      },
      after,
      size,
      steps,
    );
  const deliveries = rows.slice(0, size).map((row) => DELIVERIES.read(row));
  const last = rows.length > size ? deliveries.at(-1) : undefined;
  if (last === undefined) {
    return { deliveries, next: end, isSearched: end !== null };
  }
  const { position, receivedAt } = last;
  return { deliveries, next: { position, receivedAt }, isSearched: false };
}

/** The times of a query that are given, as they are stored. */
function timesOf<Name extends "receivedFrom" | "receivedBefore">(
  query: DeliveryQuery,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const time = query[name];
      return time === undefined ? [] : [[name, queryTime(name, time)]];
    }),
  ) as Partial<Record<Name, string>>;
}

/**
 * Reads one delivery with its body.
 *
 * @param driver The ledger's database.
 * @param id Identifier of its event.
 * @returns The delivery and the exact bytes received, null for erased ones; or
 * null when there is no such delivery.
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
  (StoredDelivery & { readonly body: Uint8Array<ArrayBuffer> | null }) | null
> {
  const [found] = await driver.batch([selectDelivery(id)], "read");
  const row = found?.rows[0];
  if (row === undefined) return null;
  const body = row[DELIVERIES.count];
  return {
    ...DELIVERIES.read(row),
    body: body instanceof ArrayBuffer || body instanceof Uint8Array
      ? new Uint8Array(body)
      : null,
  };
}

/**
 * Counts deliveries by the digest of their body, to compare them with those
 * that were answered.
 *
 * @throws {LedgerError} When the database fails.
 */
export async function countDeliveries(
  driver: Driver,
): Promise<Map<string, number>> {
  const [found] = await driver.batch([countByDigest], "read");
  return new Map(
    found?.rows.map(([digest, count]) => [String(digest), Number(count)]),
  );
}

/**
 * Reads the bodies of the newest events after a position, the last first.
 *
 * @param after The position.
 * @param limit Most events.
 * @throws {LedgerError} When the database fails.
 */
export async function readNewestBodies(
  driver: Driver,
  after: number,
  limit: number,
): Promise<readonly StoredBody[]> {
  const [found] = await driver.batch(
    [selectNewestBodies(after, limit)],
    "read",
  );
  return (found?.rows ?? []).map(([position, kind, body]) => ({
    position: Number(position),
    kind: kind as EventKind,
    body: body instanceof ArrayBuffer || body instanceof Uint8Array
      ? new Uint8Array(body)
      : null,
  }));
}

/**
 * Reads the deliveries whose bytes equal those of one delivery, and finds out
 * which of them repeat another and which happened again.
 *
 * @param eventId One of the deliveries.
 * @param options How to decide.
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
