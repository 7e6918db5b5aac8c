import { CLICK_SESSIONS_KEPT } from "../../orders/sessions.ts";
import type { Link } from "../../projection/links.ts";
import type { Statement } from "../driver/driver.ts";
import { columnsOf } from "../event_row.ts";
import { liveGeneration } from "./checkpoints.ts";

/**
 * What leads to orders and to sessions.
 *
 * - `order_links`: which sessions, click ids and external ids lead to an order;
 *   of click ids also when the order was there at the latest, so that a session
 *   finds the orders after it without reading all that share its click id.
 * - `session_links`: which sessions of the partner a session or click id names.
 */
export const linksSchema: readonly string[] = [
  `CREATE TABLE order_links (
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    began_by TEXT NOT NULL,
    order_id TEXT NOT NULL,
    PRIMARY KEY (generation, kind, link, began_by, order_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE session_links (
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (generation, kind, link, recorded_at, position)
  ) STRICT, WITHOUT ROWID`,
];

/** Links are found whatever the case of what is typed. */
export const linkSearch: readonly string[] = [
  `CREATE INDEX order_links_by_text
    ON order_links(generation, kind, link COLLATE NOCASE)`,
];

/** A link to an order, and when the order was there at the latest. */
export interface OrderLink extends Link {
  /** UTC ISO 8601; empty unless it is a click id. */
  readonly beganBy: string;
  /** The order. */
  readonly orderId: string;
}

/** A link to a session of the partner. */
export interface SessionLink extends Link {
  /** The session. */
  readonly session: { readonly recordedAt: string; readonly position: number };
}

/** A link of a new session, by which it finds orders. */
export interface LinkOfSession extends Link {
  /** Earliest session of the link, UTC ISO 8601; empty unless a click id. */
  readonly since: string;
  /** Orders that were there before this are passed over; empty for none. */
  readonly beganBy: string;
}

/** Stores links to orders, each once. */
export function insertOrderLinks(
  generation: number,
  links: readonly OrderLink[],
): Statement {
  const rows = links.map(({ kind, link, beganBy, orderId }) => [
    kind,
    link,
    beganBy,
    orderId,
  ]);
  return {
    sql: `INSERT INTO order_links (generation, kind, link, began_by, order_id)
      SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3
      FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`,
    args: [generation, JSON.stringify(rows)],
  };
}

/** Stores links to sessions, each once. */
export function insertSessionLinks(
  generation: number,
  links: readonly SessionLink[],
): Statement {
  const rows = links.map(({ kind, link, session }) => [
    kind,
    link,
    session.recordedAt,
    session.position,
  ]);
  return {
    sql: `INSERT INTO session_links
        (generation, kind, link, recorded_at, position)
      SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3
      FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`,
    args: [generation, JSON.stringify(rows)],
  };
}

/** Selects 1 where any session of the partner has been folded, else 0. */
export const selectAnySession: Statement = {
  sql: "SELECT EXISTS (SELECT 1 FROM session_links)",
  args: [],
};

/** Selects the sessions of links: rows of kind, link, and the event. */
export function selectSessions(
  generation: number,
  links: readonly Link[],
): Statement {
  return { sql: sessionsSql, args: [generation, pairs(links)] };
}

/** Selects the orders of links: rows of kind, link, order id and fold. */
export function selectLinkedOrders(
  generation: number,
  links: readonly LinkOfSession[],
): Statement {
  const rows = links.map(({ kind, link, since, beganBy }) => [
    kind,
    link,
    since,
    beganBy,
  ]);
  return { sql: linkedOrdersSql, args: [generation, JSON.stringify(rows)] };
}

/** Selects the events of the sessions that links name in the live states. */
export function selectLiveSessions(links: readonly Link[]): Statement {
  return {
    sql: `SELECT ${columns} FROM events AS e WHERE e.position IN (
        SELECT l.position FROM json_each(?1) AS w
        CROSS JOIN session_links AS l ON l.generation = ${liveGeneration}
          AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
          AND l.recorded_at <= CASE w.value ->> 0 WHEN 'click' THEN coalesce((
              SELECT k.recorded_at FROM session_links AS k
              WHERE k.generation = ${liveGeneration} AND k.kind = 'click'
                AND k.link = w.value ->> 1
              ORDER BY k.recorded_at
              LIMIT 1 OFFSET ${CLICK_SESSIONS_KEPT - 1}), '~')
            ELSE '~' END)`,
    args: [pairs(links)],
  };
}

function pairs(links: readonly Link[]): string {
  return JSON.stringify(links.map(({ kind, link }) => [kind, link]));
}

const columns = columnsOf("e");

const sessionsOfLink = `session_links AS k WHERE k.generation = ?1
  AND k.kind = w.value ->> 0 AND k.link = w.value ->> 1`;

/**
 * Sessions of the links `w`: the earliest, as many as an order keeps, and of a
 * session id the latest saying. CROSS JOIN keeps SQLite from walking the larger
 * table first.
 */
const sessionsSql = `SELECT l.kind, l.link, ${columns}
  FROM json_each(?2) AS w CROSS JOIN session_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.recorded_at <= coalesce((SELECT k.recorded_at FROM ${sessionsOfLink}
      ORDER BY k.recorded_at LIMIT 1 OFFSET ${CLICK_SESSIONS_KEPT - 1}), '~')
  CROSS JOIN events AS e ON e.position = l.position
  UNION ALL SELECT l.kind, l.link, ${columns}
  FROM json_each(?2) AS w CROSS JOIN session_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.recorded_at = (SELECT max(k.recorded_at) FROM ${sessionsOfLink})
  CROSS JOIN events AS e ON e.position = l.position
  WHERE w.value ->> 0 = 'session'`;

// A session concerns by its click id no order that was there long before it,
// and none at all after as many sessions as an order keeps.
const linkedOrdersSql =
  `SELECT l.kind, l.link, o.order_id, o.fold FROM json_each(?2) AS w
  CROSS JOIN order_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.began_by >= w.value ->> 3
  CROSS JOIN orders AS o ON o.generation = ?1 AND o.order_id = l.order_id
  WHERE w.value ->> 0 <> 'click' OR NOT EXISTS (
    SELECT 1 FROM ${sessionsOfLink} AND k.recorded_at < w.value ->> 2
    ORDER BY k.recorded_at LIMIT 1 OFFSET ${CLICK_SESSIONS_KEPT - 1})`;
