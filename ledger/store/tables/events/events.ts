import type { EventKind } from "../../../machines/event_kind.ts";
import type { RecordedEvent } from "../../../events/event.ts";
import type { Entity } from "../../../machines/transition.ts";
import type { Statement } from "../../driver/driver.ts";
import { endOfWindow, EVENTS, TEXTS } from "./event_rows.ts";

/**
 * What happened. Every index on `events` is paid for by each append, so those
 * that most events do not need are partial.
 */
export const eventsSchema: readonly string[] = [
  `CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    type TEXT,
    order_id TEXT,
    user_id TEXT,
    click_id TEXT,
    occurred_at TEXT,
    recorded_at TEXT NOT NULL,
    read_at TEXT,
    body BLOB,
    digest TEXT,
    salt BLOB
  ) STRICT`,
  `CREATE INDEX events_by_order ON events(order_id)
    WHERE order_id IS NOT NULL`,
  `CREATE INDEX events_by_user ON events(user_id)
    WHERE user_id IS NOT NULL`,
  // None by click id: read models have it, and ids in no order of time would
  // dirty a page of an index for each event.
  `CREATE INDEX events_by_kind ON events(kind)
    WHERE kind <> 'webhook'`,
  `CREATE INDEX events_quarantined ON events(recorded_at)
    WHERE kind = 'webhook' AND type IS NULL`,
  // Events of an order are few and found by it; the others need the digest.
  `CREATE INDEX events_by_digest ON events(substr(digest, 1, 16), recorded_at)
    WHERE kind = 'webhook' AND order_id IS NULL`,
];

/** Selects the event at a position. */
export function selectEventAt(position: number): Statement {
  return {
    sql: `SELECT ${EVENTS.list()} FROM events WHERE position = ?`,
    args: [position],
  };
}

/** Which events of an order to read. */
export interface EventsOfOrder {
  /** Only those after this position. */
  readonly after: number;
  /** Most events. */
  readonly limit: number;
  /** Whether webhooks are among them. */
  readonly webhooks: boolean;
}

/** Selects events that name an order, by position. */
export function selectEventsOfOrder(
  orderId: string,
  { after, limit, webhooks }: EventsOfOrder,
): Statement {
  return {
    sql: `SELECT ${EVENTS.list()} FROM events INDEXED BY events_by_order
      WHERE order_id = ? AND position > ?
        ${webhooks ? "" : "AND kind <> 'webhook'"}
      ORDER BY position LIMIT ?`,
    args: [orderId, after, limit],
  };
}

/** Counts the webhooks that name an order after a position. */
export function selectWebhooksOfOrder(
  orderId: string,
  after: number,
): Statement {
  return {
    sql: `SELECT count(*) FROM events INDEXED BY events_by_order
      WHERE order_id = ? AND position > ? AND kind = 'webhook'`,
    args: [orderId, after],
  };
}

/** Selects the orders that events up to a position name, by id. */
export function selectOrderIdsUpTo(
  position: number,
  { after, limit }: { readonly after: string; readonly limit: number },
): Statement {
  return {
    sql: `SELECT DISTINCT order_id FROM events
      WHERE order_id > ?1 AND position <= ?2 ORDER BY order_id LIMIT ?3`,
    args: [after, position, limit],
  };
}

/**
 * Selects the events up to a position that name one of some orders, and what
 * was kept of them later.
 */
export function selectEventsOfOrders(
  orderIds: readonly string[],
  position: number,
): Statement {
  return {
    sql: `SELECT ${EVENTS.list()} FROM events
      WHERE order_id IN (SELECT value FROM json_each(?1))
        AND (position <= ?2 OR kind = 'order_redacted')
      ORDER BY position`,
    args: [JSON.stringify(orderIds), position],
  };
}

/** Selects the position of the last event, and how many there are. */
export const selectHead: Statement = {
  sql: "SELECT coalesce(max(position), 0), count(*) FROM events",
  args: [],
};

/** Selects how many events there are up to a position. */
export function countEventsUpTo(position: number): Statement {
  return {
    sql: "SELECT count(*) FROM events WHERE position <= ?",
    args: [position],
  };
}

/** Selects the position of the n-th event, counted from one. */
export function selectNthPosition(count: number): Statement {
  return {
    sql: "SELECT position FROM events ORDER BY position LIMIT 1 OFFSET ?",
    args: [count - 1],
  };
}

/** Selects the positions of all events of a kind other than `webhook`. */
export function selectPositionsOfKind(kind: EventKind): Statement {
  return {
    // The second condition is that of the index.
    sql: `SELECT position FROM events
      WHERE kind = ? AND kind <> 'webhook' ORDER BY position`,
    args: [kind],
  };
}

/** Selects the event with an id. */
export function selectEventWithId(eventId: string): Statement {
  return {
    sql: `SELECT ${EVENTS.list()} FROM events WHERE event_id = ?`,
    args: [eventId],
  };
}

/** Selects a row where an event that names an order or user was erased. */
export function selectErasedOf(entity: Entity, id: string): Statement {
  return {
    sql: `SELECT 1 FROM events WHERE ${entity}_id = ? AND body IS NULL LIMIT 1`,
    args: [id],
  };
}

/** Deletes the events of a scratch database that later ones do not look up. */
export const deleteAllButJoined: Statement = {
  sql: `DELETE FROM events WHERE kind NOT IN
    ('session_created', 'order_expected', 'witness_required')`,
  args: [],
};

/** Stores events at the positions that they have in another database. */
export function insertRecorded(events: readonly RecordedEvent[]): Statement {
  const sizes = events.map(({ body }) => body?.length ?? 0);
  const bodies = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let end = 0;
  const rows = events.map((event) => {
    const { body } = event;
    const from = end;
    if (body !== null) bodies.set(body, from);
    end += body?.length ?? 0;
    return [
      ...TEXTS.write(event),
      event.position,
      body === null ? null : from + 1,
      body?.length ?? 0,
    ];
  });
  const at = TEXTS.count;
  return {
    sql: `INSERT INTO events (${TEXTS.list()}, position, body)
      SELECT ${TEXTS.values}, value ->> ${at}, CASE
        WHEN value ->> ${at + 1} IS NOT NULL
        THEN substr(?1, value ->> ${at + 1}, value ->> ${at + 2}) END
      FROM json_each(?2)`,
    args: [bodies, JSON.stringify(rows)],
  };
}

/** Appends an event whose body was erased, unless it is there already. */
export function appendErased(
  event: Omit<RecordedEvent, "position">,
): Statement {
  return {
    sql: `INSERT INTO events (${TEXTS.list()})
      VALUES (${TEXTS.fields.map(() => "?")})
      ON CONFLICT (event_id) DO NOTHING`,
    args: TEXTS.write({ ...event, digest: null }),
  };
}

/** Few at a time, and fewer where bodies are large. */
const endOfExport = endOfWindow({
  where: "position > ?1",
  maxEvents: "200",
  maxBytes: String(4 << 20),
});

/** Selects the next events, each with what stands for its erased part. */
export function selectEventsAndErasures(after: number): Statement {
  return {
    sql: `SELECT ${EVENTS.list()}, erasures.part, erasures.commitment
      FROM events LEFT JOIN erasures USING (position)
      WHERE position > ?1 AND position <= ${endOfExport} ORDER BY position`,
    args: [after],
  };
}

/**
 * Selects when the last event up to a position was recorded.
 *
 * @param position The position.
 */
export function selectRecordedAt(position: number): Statement {
  return {
    sql: `SELECT recorded_at FROM events WHERE position <= ?
      ORDER BY position DESC LIMIT 1`,
    args: [position],
  };
}

/** The kind and body of an event. */
export interface StoredBody {
  /** Place in the ledger. */
  readonly position: number;
  /** What kind of event it is. */
  readonly kind: EventKind;
  /** Its bytes; null when they were erased. */
  readonly body: Uint8Array | null;
}

/**
 * Selects the newest events after a position, the last first.
 *
 * @param after The position.
 * @param limit Most events.
 */
export function selectNewestBodies(after: number, limit: number): Statement {
  return {
    sql: `SELECT position, kind, body FROM events
      WHERE position > ? ORDER BY position DESC LIMIT ?`,
    args: [after, limit],
  };
}
