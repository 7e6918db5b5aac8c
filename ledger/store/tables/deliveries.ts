import { Columns, flag, plain } from "./columns.ts";
import type { SqlValue, Statement } from "../driver/driver.ts";

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
  /** Length of the body in bytes; null when it was erased. */
  readonly bytes: number | null;
}

/** The columns of a delivery. */
export const DELIVERIES: Columns<StoredDelivery> = new Columns({
  position: ["position", plain()],
  id: ["event_id", plain()],
  receivedAt: ["recorded_at", plain()],
  type: ["type", plain()],
  quarantined: ["type IS NULL", flag],
  orderId: ["order_id", plain()],
  userId: ["user_id", plain()],
  clickId: ["click_id", plain()],
  bytes: ["length(body)", plain()],
});

/** A delivery after which a list goes on. */
export interface DeliveryPlace {
  /** Its position. */
  readonly position: number;
  /** When it was received, UTC ISO 8601. */
  readonly receivedAt: string;
}

/** Which deliveries are selected; all that is set must hold. */
export interface DeliveryFilter {
  readonly orderId?: string;
  readonly userId?: string;
  readonly quarantined?: boolean;
  /** Type as sent. */
  readonly type?: string;
  /** Received then or later, UTC ISO 8601. */
  readonly receivedFrom?: string;
  /** Received before then, UTC ISO 8601. */
  readonly receivedBefore?: string;
}

/**
 * Deliveries by when they were received: what is appended grows at the end of
 * the index, and whoever looks for a type reads no delivery of another.
 */
export const receivedSchema: readonly string[] = [
  `CREATE INDEX events_received ON events(recorded_at, position, type)
    WHERE kind = 'webhook'`,
];

/** A part of the deliveries, the last received first. */
export interface DeliveryStep {
  /** Only those behind it; null from the last received on. */
  readonly from: DeliveryPlace | null;
  /** Only those up to it; null to the first received. @default {null} */
  readonly to?: DeliveryPlace | null;
}

/**
 * Selects deliveries that name an order or a user, the last stored first: by the
 * index of its events.
 */
export function selectNaming(
  { orderId, userId, ...filter }: DeliveryFilter,
  from: DeliveryPlace | null,
  limit: number,
): Statement {
  const { sql, args } = allOf([
    ["position < ?", from?.position ?? Number.MAX_SAFE_INTEGER],
    ...(orderId === undefined ? [] : [["order_id = ?", orderId] as const]),
    ...(userId === undefined ? [] : [["user_id = ?", userId] as const]),
    ...typeConditions(filter),
    ...timeConditions(filter, "+recorded_at", "+recorded_at"),
  ]);
  return {
    sql: `SELECT ${DELIVERIES.list()} FROM events
      WHERE kind = 'webhook' ${sql} ORDER BY position DESC LIMIT ?`,
    args: [...args, limit],
  };
}

/**
 * Selects deliveries of a step, the last received first. Quarantined ones have
 * an index of their own, because they may be few among millions.
 */
export function selectReceived(
  filter: DeliveryFilter,
  { from, to = null }: DeliveryStep,
  limit: number,
): Statement {
  const { sql, args } = allOf([
    ...typeConditions(filter),
    ...stepConditions(filter, from, to),
  ]);
  const index = filter.quarantined ? "events_quarantined" : "events_received";
  return {
    sql: `SELECT ${DELIVERIES.list()} FROM events INDEXED BY ${index}
      WHERE kind = 'webhook' ${sql}
      ORDER BY recorded_at DESC, position DESC LIMIT ?`,
    args: [...args, limit],
  };
}

/**
 * Selects where the step ends that has so many deliveries, of whatever type: its
 * time of receipt and position.
 */
export function selectReceivedStepEnd(
  filter: DeliveryFilter,
  from: DeliveryPlace | null,
  deliveries: number,
): Statement {
  const { sql, args } = allOf(stepConditions(filter, from, null));
  return {
    sql: `SELECT recorded_at, position FROM events INDEXED BY events_received
      WHERE kind = 'webhook' ${sql}
      ORDER BY recorded_at DESC, position DESC LIMIT 1 OFFSET ?`,
    args: [...args, deliveries - 1],
  };
}

/** A condition, and the values of its placeholders. */
type Clause = readonly [sql: string, ...args: readonly SqlValue[]];

function allOf(clauses: readonly Clause[]): Statement {
  return {
    sql: clauses.map(([sql]) => `AND ${sql}`).join(" "),
    args: clauses.flatMap(([, ...args]) => args),
  };
}

function typeConditions({ type, quarantined }: DeliveryFilter): Clause[] {
  return [
    ...(type === undefined ? [] : [["type = ?", type] as const]),
    ...(quarantined ? [["type IS NULL"] as const] : []),
  ];
}

/** SQLite goes by one bound of each side: where a step has one, by that. */
function stepConditions(
  filter: DeliveryFilter,
  from: DeliveryPlace | null,
  to: DeliveryPlace | null,
): Clause[] {
  const bound = (place: DeliveryPlace | null) =>
    place === null ? "recorded_at" : "+recorded_at";
  const behind = (sign: string, place: DeliveryPlace | null): Clause[] =>
    place === null ? [] : [[
      `(recorded_at, position) ${sign} (?, ?)`,
      place.receivedAt,
      place.position,
    ]];
  return [
    ...timeConditions(filter, bound(to), bound(from)),
    ...behind("<", from),
    ...behind(">=", to),
  ];
}

function timeConditions(
  { receivedFrom, receivedBefore }: DeliveryFilter,
  lower: string,
  upper: string,
): Clause[] {
  return [
    ...(receivedFrom === undefined
      ? []
      : [[`${lower} >= ?`, receivedFrom] as const]),
    ...(receivedBefore === undefined
      ? []
      : [[`${upper} < ?`, receivedBefore] as const]),
  ];
}

/** Selects one delivery, and its body in the last column. */
export function selectDelivery(eventId: string): Statement {
  return {
    sql: `SELECT ${DELIVERIES.list()}, body FROM events
      WHERE event_id = ? AND kind = 'webhook'`,
    args: [eventId],
  };
}

/** Counts deliveries: rows of digest and number. */
export const countByDigest: Statement = {
  sql: `SELECT digest, count(*) FROM events WHERE kind = 'webhook'
    GROUP BY digest`,
  args: [],
};

/**
 * Selects the deliveries with the same bytes as one of them: rows of event id,
 * time of receipt, and 1 where it was answered in time.
 */
export function selectSameBytes(eventId: string): Statement {
  return {
    // The two arms are the two ways in which deliveries can be found by index.
    sql: `WITH one AS (SELECT order_id, digest FROM events
        WHERE event_id = ? AND kind = 'webhook' AND digest IS NOT NULL)
      SELECT event_id, recorded_at, event_id NOT IN
        (SELECT event_id FROM unanswered_deliveries) FROM (
        SELECT e.event_id, e.recorded_at FROM one JOIN events AS e
          ON e.order_id = one.order_id
          WHERE e.kind = 'webhook' AND e.digest = one.digest
        UNION ALL
        SELECT e.event_id, e.recorded_at FROM one JOIN events AS e
          ON substr(e.digest, 1, 16) = substr(one.digest, 1, 16)
          WHERE one.order_id IS NULL AND e.order_id IS NULL
            AND e.kind = 'webhook' AND e.digest = one.digest)`,
    args: [eventId],
  };
}

/** Selects the position of the last event; null where there is none. */
export const selectLastPosition: Statement = {
  sql: "SELECT max(position) FROM events",
  args: [],
};

/** Events among which the last reading is looked for. */
const LATE_EVENTS = 1000;

/** Selects when the last reading among the last events was recorded. */
export const selectLateReading: Statement = {
  sql: `SELECT max(recorded_at) FROM (
      SELECT kind, recorded_at FROM events
      ORDER BY position DESC LIMIT ${LATE_EVENTS})
    WHERE kind IN ('order_snapshot', 'user_snapshot', 'order_absent')`,
  args: [],
};

/** Selects when the last webhook up to a position came. */
export function selectLastWebhook(position: number): Statement {
  return {
    sql: `SELECT recorded_at FROM events AS e
      WHERE position <= ? AND kind = 'webhook'
        AND type IS NOT NULL AND type <> 'test' AND ${shownSql}
      ORDER BY position DESC LIMIT 1`,
    args: [position],
  };
}

/**
 * Selects what tells whether deliveries come: rows of position, kind, event id,
 * type, time of receipt; the body of a report of an unanswered delivery; whether
 * the service has shown what a webhook names; of a reading, id and time of the
 * webhook before it, as JSON; and whether it is about an order.
 */
export function selectDeliveryLog(after: number, limit: number): Statement {
  return {
    sql: `SELECT position, kind, event_id, type, recorded_at,
        CASE WHEN kind = 'delivery_unanswered' THEN body END,
        CASE WHEN kind = 'webhook' THEN ${shownSql} END, ${namedSql},
        coalesce(order_id, '') <> ''
      FROM events AS e WHERE position > ? ORDER BY position LIMIT ?`,
    args: [after, limit],
  };
}

/**
 * Whether the service has shown the entity that a webhook names. Where it was
 * never read every webhook counts: there is nothing to hold them against.
 */
const shownSql = `(CASE WHEN e.order_id <> '' THEN EXISTS (
    SELECT 1 FROM observations AS o WHERE o.entity = 'order'
      AND o.entity_id = e.order_id AND o.found = 1)
  ELSE EXISTS (
    SELECT 1 FROM observations AS o WHERE o.entity = 'user'
      AND o.entity_id = e.user_id AND o.found = 1) END
  OR NOT EXISTS (SELECT 1 FROM observations WHERE found = 1))`;

/** Events of one user that are looked through for a webhook. */
const lookedThrough = 100;

/** The latest webhook before a reading that names what the reading shows. */
const namedSql = `CASE e.kind
  WHEN 'order_snapshot' THEN (
    SELECT json_array(w.event_id, w.recorded_at) FROM events AS w
    WHERE w.order_id = e.order_id AND w.kind = 'webhook'
      AND w.type <> 'test' AND w.position < e.position
    ORDER BY w.position DESC LIMIT 1)
  WHEN 'user_snapshot' THEN (
    SELECT json_array(w.event_id, w.recorded_at) FROM (
      SELECT * FROM events AS u
      WHERE u.user_id = e.user_id AND u.position < e.position
      ORDER BY u.position DESC LIMIT ${lookedThrough}) AS w
    WHERE w.kind = 'webhook' AND w.type <> 'test'
      AND coalesce(w.order_id, '') = ''
    ORDER BY w.position DESC LIMIT 1)
  END`;

/**
 * What each process that moves deliveries from a spool to the ledger has
 * waiting. `place` is the spool's folder; times are milliseconds since 1970.
 */
export const moversSchema: readonly string[] = [
  `CREATE TABLE movers (
    place TEXT NOT NULL,
    process TEXT NOT NULL,
    waiting INTEGER NOT NULL,
    oldest_ms INTEGER NOT NULL,
    written_ms INTEGER NOT NULL,
    PRIMARY KEY (place, process)
  ) STRICT, WITHOUT ROWID`,
];

/** A process that moves deliveries, and the folder that it takes them from. */
export interface Mover {
  /** The spool's folder. */
  readonly place: string;
  /** Name of the process, which no other ever has. */
  readonly process: string;
  /** Ended processes whose deliveries are counted as its own now. @default {none} */
  readonly takenOver?: ReadonlySet<string>;
  /** Other processes of which files are in the folder. @default {none} */
  readonly others?: ReadonlySet<string>;
  /** When the folder was listed, ms since 1970. @default {never} */
  readonly listedMs?: number;
}

/** Writes what a mover has waiting: number, oldest, time of writing. */
export function writeMover(
  { place, process }: Mover,
  values: readonly [number, number, number],
): Statement {
  return {
    sql: `INSERT OR REPLACE INTO movers
      (place, process, waiting, oldest_ms, written_ms)
      VALUES (?, ?, ?, ?, ?)`,
    args: [place, process, ...values],
  };
}

const moversDone = `(place = ?1 AND process = ?2 AND ?3)
  OR process IN (SELECT value FROM json_each(?4))
  OR (place = ?1 AND process <> ?2 AND written_ms < ?5
    AND process NOT IN (SELECT value FROM json_each(?6)))`;

function moversDoneArgs(
  {
    place,
    process,
    takenOver = new Set(),
    others = new Set(),
    listedMs = -Infinity,
  }: Mover,
  isOwn: boolean,
): Statement["args"] {
  return [
    place,
    process,
    isOwn ? 1 : 0,
    JSON.stringify([...takenOver]),
    Math.max(listedMs, 0),
    JSON.stringify([...others]),
  ];
}

/** Selects a row where {@linkcode deleteMovers} would delete one. */
export function selectMoversDone(mover: Mover, isOwn: boolean): Statement {
  return {
    sql: `SELECT 1 FROM movers WHERE ${moversDone} LIMIT 1`,
    args: moversDoneArgs(mover, isOwn),
  };
}

/**
 * Deletes rows of movers: of those that were taken over, those of which no file
 * was left when the folder was listed, and the mover's own where nothing waits.
 */
export function deleteMovers(mover: Mover, isOwn: boolean): Statement {
  return {
    sql: `DELETE FROM movers WHERE ${moversDone}`,
    args: moversDoneArgs(mover, isOwn),
  };
}

/** Selects rows of number, oldest and time of writing. */
export const selectMovers: Statement = {
  sql: "SELECT waiting, oldest_ms, written_ms FROM movers",
  args: [],
};

/** Deliveries that were not answered in time. */
export const unansweredSchema: readonly string[] = [
  `CREATE TABLE unanswered_deliveries (
    event_id TEXT PRIMARY KEY
  ) STRICT, WITHOUT ROWID`,
];

/** Remembers deliveries that were not answered in time, each once. */
export function insertUnanswered(eventIds: readonly string[]): Statement {
  return {
    sql: `INSERT INTO unanswered_deliveries (event_id)
      SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(eventIds)],
  };
}
