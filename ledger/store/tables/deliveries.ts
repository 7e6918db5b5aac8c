import { Columns, flag, plain } from "./columns.ts";
import type { Statement } from "../driver/driver.ts";

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
  /** Whether the body is no JSON object with a type. */
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

/** Which deliveries are selected. */
export interface DeliveryFilter {
  readonly orderId?: string;
  readonly userId?: string;
  readonly quarantined?: boolean;
}

/**
 * Selects deliveries after a place, the last stored first; those that name an
 * order or a user go by the index of its events.
 */
export function selectDeliveries(
  after: DeliveryPlace | null,
  limit: number,
  { orderId, userId, quarantined = false }: DeliveryFilter = {},
): Statement {
  const names = [
    ...(orderId === undefined ? [] : [["order_id", orderId] as const]),
    ...(userId === undefined ? [] : [["user_id", userId] as const]),
  ];
  return {
    sql: `SELECT ${DELIVERIES.list()} FROM events
      WHERE kind = 'webhook' AND position < ?
        ${names.map(([column]) => `AND ${column} = ?`).join(" ")}
        ${quarantined ? "AND type IS NULL" : ""}
      ORDER BY position DESC LIMIT ?`,
    args: [
      after?.position ?? Number.MAX_SAFE_INTEGER,
      ...names.map(([, id]) => id),
      limit,
    ],
  };
}

/**
 * Selects quarantined deliveries after a place, the last received first: by
 * their own index, because they may be few among millions.
 */
export function selectQuarantined(
  after: DeliveryPlace | null,
  limit: number,
): Statement {
  return {
    sql: `SELECT ${DELIVERIES.list()} FROM events INDEXED BY events_quarantined
      WHERE kind = 'webhook' AND type IS NULL
        ${after === null ? "" : "AND (recorded_at, position) < (?, ?)"}
      ORDER BY recorded_at DESC, position DESC LIMIT ?`,
    args: after === null ? [limit] : [after.receivedAt, after.position, limit],
  };
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
