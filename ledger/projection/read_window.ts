import type { RecordedEvent } from "../event/event.ts";
import { decodeOrderFold, decodeUserFold } from "../fold/codec.ts";
import type { Fact, SessionFact } from "../fold/fact.ts";
import { type OrderFold, SESSIONS_KEPT } from "../fold/order_fold.ts";
import type { UserFold } from "../fold/user_fold.ts";
import type {
  Driver,
  ResultSet,
  SqlValue,
  Statement,
} from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import {
  type Checkpoint,
  type Checkpoints,
  checkpointsOf,
  type Lane,
  sameCheckpoint,
  selectCheckpoints,
} from "./checkpoint.ts";
import type { FoldCache } from "./fold_cache.ts";
import type { Known, WindowEvent } from "./fold_window.ts";
import { type Link, linkKey, orderLinks, sessionLinks } from "./links.ts";

/** Which events a step reads. */
export interface EventsOptions {
  /** Which states they are for. */
  readonly lane: Lane;
  /** `write` reads from the primary: after a lost race a replica may be behind. */
  readonly mode: "read" | "write";
  /** Most events. */
  readonly maxEvents: number;
  /** Most bytes of bodies, unless one event alone has more. */
  readonly maxBytes: number;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

/** What a step reads. */
export interface WindowOptions extends EventsOptions {
  /** States kept from the steps before; null reads them with the events. */
  readonly cache: FoldCache | null;
  /** What {@linkcode readAhead} has read after the cache's checkpoint. */
  readonly ahead: EventsRead | null;
}

/** The events of a window, before the states they touch are known. */
export interface EventsRead {
  /** The checkpoints at that moment. */
  readonly checkpoints: Checkpoints;
  /** Whether any session of the partner has been folded. */
  readonly anySession: boolean;
  /** The events. */
  readonly events: readonly WindowEvent[];
  /** Folds that were read with them, as stored. */
  readonly states: readonly ResultSet[];
}

/** What a step has read. */
export interface Window {
  /** Both checkpoints, as of the same moment. */
  readonly checkpoints: Checkpoints;
  /** The events after the lane's checkpoint. */
  readonly events: readonly WindowEvent[];
  /** What is known before them; null when the checkpoint moved meanwhile. */
  readonly known: Known | null;
}

/** Where the window begins: as told, else at the lane's checkpoint. */
const checkpoint =
  "coalesce(?4, (SELECT position FROM projections WHERE name = ?1))";

/** Events that the window may hold by their number. */
const candidates = `(SELECT position, coalesce(length(body), 0) AS size
  FROM events WHERE position > ${checkpoint}
    AND (?1 = 'live' OR position <=
      (SELECT position FROM projections WHERE name = 'live'))
  ORDER BY position LIMIT ?2)`;

/**
 * Position of the last event of the window. Adding sizes up event by event
 * costs as much as all else, and is done only where they are too many bytes.
 */
const windowEnd = `(SELECT CASE WHEN bytes < ?3 THEN last ELSE (
    SELECT max(position) FROM (
      SELECT position, size, sum(size) OVER (ORDER BY position) AS total
      FROM ${candidates})
    WHERE total - size < ?3 OR total = size) END
  FROM (SELECT coalesce(max(position), 0) AS last, sum(size) AS bytes
    FROM ${candidates}))`;

const inWindow = `position > ${checkpoint} AND position <= ${windowEnd}`;

const ofLane =
  "generation = (SELECT generation FROM projections WHERE name = ?1)";

/**
 * All events as one text and one BLOB, because thousands of small values cost
 * more on their way between threads than everything else. The text holds the
 * columns and each body's length; what is inside a body is none of SQL's
 * business.
 */
const selectEvents = `SELECT json_group_array(json_array(position, event_id,
    kind, type, order_id, user_id, click_id, occurred_at, recorded_at, read_at,
    length(body), digest)),
    CAST(group_concat(body, '') AS BLOB)
  FROM (SELECT * FROM events WHERE ${inWindow} ORDER BY position)`;

const selectOrders = `SELECT order_id, fold FROM orders
  WHERE ${ofLane} AND order_id IN (SELECT order_id FROM events
    WHERE order_id IS NOT NULL AND ${inWindow})`;

const selectUsers = `SELECT user_id, fold FROM users
  WHERE ${ofLane} AND user_id IN (SELECT user_id FROM events
    WHERE user_id IS NOT NULL AND ${inWindow})`;

const selectAnySession: Statement = {
  sql: "SELECT EXISTS (SELECT 1 FROM session_links)",
  args: [],
};

const selectImported = `SELECT first_position, last_position FROM imported
  WHERE last_position > (SELECT position FROM projections WHERE name = ?1)`;

const selectOrdersById = `SELECT order_id, fold FROM orders
  WHERE generation = ?1 AND order_id IN (SELECT value FROM json_each(?2))`;

const selectUsersById = `SELECT user_id, fold FROM users
  WHERE generation = ?1 AND user_id IN (SELECT value FROM json_each(?2))`;

// An order keeps the latest sessions only, so no link needs more than those.
const selectSessions = `SELECT l.kind, l.link, ${
  qualified("e")
} FROM json_each(?2) AS w
  JOIN session_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.recorded_at >= coalesce((SELECT k.recorded_at FROM session_links AS k
      WHERE k.generation = ?1 AND k.kind = w.value ->> 0
        AND k.link = w.value ->> 1
      ORDER BY k.recorded_at DESC LIMIT 1 OFFSET ${SESSIONS_KEPT - 1}), '')
  JOIN events AS e ON e.position = l.position`;

const selectLinkedOrders =
  `SELECT l.kind, l.link, o.order_id, o.fold FROM json_each(?2) AS w
  JOIN order_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
  JOIN orders AS o ON o.generation = ?1 AND o.order_id = l.order_id`;

function qualified(table: string): string {
  return eventColumns.split(", ").map((column) => `${table}.${column}`)
    .join(", ");
}

/**
 * Reads the events of the step after next, and decodes them, while the next one
 * is written. Events never change, so they hold whoever writes meanwhile.
 *
 * @param driver The database.
 * @param options Which events.
 * @param after Position that the step before them will reach.
 */
export function readAhead(
  driver: Driver,
  options: EventsOptions,
  after: number,
): Promise<EventsRead> {
  return readEvents(driver, options, after, []);
}

async function readEvents(
  driver: Driver,
  options: EventsOptions,
  after: number | null,
  states: readonly string[],
): Promise<EventsRead> {
  const { lane, mode, maxEvents, maxBytes, readFact } = options;
  const args = [lane, maxEvents, maxBytes, after];
  const [checkpoints, anySession, ranges, events, ...more] = await driver
    .batch([
      selectCheckpoints,
      selectAnySession,
      { sql: selectImported, args: [lane] },
      { sql: selectEvents, args },
      ...states.map((sql) => ({ sql, args })),
    ], mode);
  return {
    checkpoints: checkpointsOf(checkpoints),
    anySession: anySession?.rows[0]?.[0] === 1,
    events: windowEvents(events, ranges, readFact),
    states: more,
  };
}

/**
 * Reads what one step needs: the next events and the states they touch in one
 * batch; where sessions are about, or many events are folded with states kept
 * in memory, what is still missing in a second one.
 *
 * @param driver The database.
 * @param options What to read.
 */
export async function readWindow(
  driver: Driver,
  options: WindowOptions,
): Promise<Window> {
  const { lane, mode, cache, ahead } = options;
  const { events, states, ...read } = ahead ??
    await readEvents(
      driver,
      options,
      null,
      cache === null ? [selectOrders, selectUsers] : [],
    );
  const at = ahead !== null && cache !== null
    ? cache.at
    : read.checkpoints[lane];
  const checkpoints = { ...read.checkpoints, [lane]: at };
  if (at === null || events.length === 0) {
    return { checkpoints, events, known: null };
  }
  const sessionsAbout = read.anySession || (cache?.sessionsWritten ?? false);
  const wanted = wantedBy(events, sessionsAbout);
  const known: MutableKnown = {
    orders: new Map(),
    users: new Map(),
    sessions: new Map(),
    linkedOrders: new Map(),
  };
  if (cache === null) {
    addFolds(known.orders, states[0], decodeOrderFold);
    addFolds(known.users, states[1], decodeUserFold);
    wanted.orders.clear();
    wanted.users.clear();
  } else {
    cache.take(at, wanted, known);
  }
  const found = await lookUp(
    driver,
    at,
    { mode, lane, wanted, known },
    options,
  );
  return { checkpoints, events, known: found ? known : null };
}

/** What has to be looked up before a window can be folded. */
export interface Wanted {
  /** Orders whose folds are not known. */
  readonly orders: Set<string>;
  /** Users whose folds are not known. */
  readonly users: Set<string>;
  /** Links whose sessions are not known. */
  readonly sessionsOf: Map<string, Link>;
  /** Links whose orders are not known. */
  readonly ordersOf: Map<string, Link>;
}

/** {@linkcode Known} while it is gathered. */
export interface MutableKnown extends Known {
  readonly orders: Map<string, OrderFold>;
  readonly users: Map<string, UserFold>;
  readonly sessions: Map<string, SessionFact[]>;
  readonly linkedOrders: Map<string, string[]>;
}

function windowEvents(
  rows: ResultSet | undefined,
  ranges: ResultSet | undefined,
  readFact: WindowOptions["readFact"],
): WindowEvent[] {
  const imported = (position: number) =>
    ranges?.rows.some(([first, last]) =>
      position >= (first as number) && position <= (last as number)
    ) ?? false;
  const none = ranges === undefined || ranges.rows.length === 0;
  const [columns, bodies] = rows?.rows[0] ?? [];
  const packed: SqlValue[][] = JSON.parse(String(columns ?? "[]"));
  let end = 0;
  return packed.map((row) => {
    const length = row[10] as number | null;
    row[10] = length === null
      ? null
      : (bodies as Uint8Array | null)?.subarray(end, end + length) ??
        new Uint8Array(0);
    end += length ?? 0;
    // Salts are for the evidence alone.
    row[12] = null;
    const event = recordedEvent(row);
    return {
      event,
      fact: readFact(event),
      imported: none ? false : imported(event.position),
    };
  }).sort((a, b) => a.event.position - b.event.position);
}

function wantedBy(
  events: readonly WindowEvent[],
  sessionsAbout: boolean,
): Wanted {
  const wanted: Wanted = {
    orders: new Set(),
    users: new Set(),
    sessionsOf: new Map(),
    ordersOf: new Map(),
  };
  for (const { fact } of events) {
    if (fact.orderId !== null) wanted.orders.add(fact.orderId);
    if (fact.userId !== null) wanted.users.add(fact.userId);
    if (sessionsAbout) {
      for (const link of orderLinks(fact)) {
        if (link.kind !== "external") {
          wanted.sessionsOf.set(linkKey(link), link);
        }
      }
    }
    if (fact.kind === "session_created") {
      for (const link of sessionLinks(fact)) {
        wanted.ordersOf.set(linkKey(link), link);
      }
    }
  }
  return wanted;
}

/** Fills in what is wanted; false when the checkpoint has moved meanwhile. */
async function lookUp(
  driver: Driver,
  at: Checkpoint,
  { mode, lane, wanted, known }: {
    readonly mode: "read" | "write";
    readonly lane: Lane;
    readonly wanted: Wanted;
    readonly known: MutableKnown;
  },
  { readFact }: Pick<WindowOptions, "readFact">,
): Promise<boolean> {
  const { orders, users, sessionsOf, ordersOf } = wanted;
  if (orders.size + users.size + sessionsOf.size + ordersOf.size === 0) {
    return true;
  }
  const json = (items: Iterable<unknown>) => JSON.stringify([...items]);
  const pairs = (links: Map<string, Link>) =>
    json([...links.values()].map(({ kind, link }) => [kind, link]));
  const [checkpointRows, orderRows, userRows, sessionRows, linkedRows] =
    await driver.batch([
      selectCheckpoints,
      { sql: selectOrdersById, args: [at.generation, json(orders)] },
      { sql: selectUsersById, args: [at.generation, json(users)] },
      { sql: selectSessions, args: [at.generation, pairs(sessionsOf)] },
      { sql: selectLinkedOrders, args: [at.generation, pairs(ordersOf)] },
    ], mode);
  if (!sameCheckpoint(checkpointsOf(checkpointRows)[lane], at)) return false;
  addFolds(known.orders, orderRows, decodeOrderFold);
  addFolds(known.users, userRows, decodeUserFold);
  for (const row of sessionRows?.rows ?? []) {
    const fact = readFact(recordedEvent(row.slice(2)));
    if (fact.kind !== "session_created") continue;
    append(known.sessions, keyOfRow(row), fact);
  }
  for (const row of linkedRows?.rows ?? []) {
    const orderId = row[2] as string;
    append(known.linkedOrders, keyOfRow(row), orderId);
    if (!known.orders.has(orderId)) {
      known.orders.set(orderId, decodeOrderFold(row[3] as string));
    }
  }
  return true;
}

function addFolds<Fold>(
  folds: Map<string, Fold>,
  result: ResultSet | undefined,
  decode: (text: string) => Fold,
): void {
  for (const [id, fold] of result?.rows ?? []) {
    folds.set(id as string, decode(fold as string));
  }
}

function append<Item>(
  lists: Map<string, Item[]>,
  key: string,
  item: Item,
): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function keyOfRow(row: ResultSet["rows"][number]): string {
  return linkKey({ kind: row[0] as Link["kind"], link: row[1] as string });
}
