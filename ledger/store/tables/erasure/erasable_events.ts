import type { RecordedEvent } from "../../../events/event.ts";
import type { Erased, ErasedPart } from "../../../hashes/commitment.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";
import { EVENTS, recordedEvent } from "../events/event_rows.ts";
import { liveGeneration } from "../checkpoints.ts";
import { isLink } from "../link_text.ts";

/** An event, and what stands for its erased part. */
export interface ErasableEvent {
  /** The event. */
  readonly event: RecordedEvent;
  /** What stands for its erased part; null where nothing was erased. */
  readonly erased: Erased | null;
}

const erasable = `SELECT ${EVENTS.list("e")}, x.part, x.commitment
  FROM events AS e LEFT JOIN erasures AS x ON x.position = e.position`;

/** Reads the answer of a statement that selects erasable events. */
export function erasableEvents(result: ResultSet | undefined): ErasableEvent[] {
  return result?.rows.map(erasableEvent) ?? [];
}

/** Reads an event, after which stand the part that is erased and its commitment. */
export function erasableEvent(row: ResultSet["rows"][number]): ErasableEvent {
  const [part, commitment] = row.slice(EVENTS.count);
  return {
    event: recordedEvent(row),
    erased: commitment instanceof Uint8Array
      ? { part: part as ErasedPart, commitment }
      : null,
  };
}

/** Selects the events up to a position that name one of some users. */
export function selectErasableOfUsers(
  userIds: readonly string[],
  position: number,
): Statement {
  return {
    sql: `${erasable} WHERE e.user_id IN (SELECT value FROM json_each(?1))
      AND e.position <= ?2 ORDER BY e.position`,
    args: [JSON.stringify(userIds), position],
  };
}

/** Selects the events up to a position that name one of some orders. */
export function selectErasableOfOrders(
  orderIds: readonly string[],
  position: number,
): Statement {
  return {
    sql: `${erasable} WHERE e.order_id IN (SELECT value FROM json_each(?1))
      AND e.position <= ?2 ORDER BY e.position`,
    args: [JSON.stringify(orderIds), position],
  };
}

/** Selects events by position. */
export function selectErasableAt(positions: readonly number[]): Statement {
  return {
    sql: `${erasable} WHERE e.position IN (SELECT value FROM json_each(?1))
      ORDER BY e.position`,
    args: [JSON.stringify(positions)],
  };
}

/**
 * Selects the webhooks that name nothing but one of some click ids. No index
 * has click ids, so this looks at every event.
 */
export function selectErasableOfClicks(
  clickIds: readonly string[],
  position: number,
): Statement {
  return {
    sql: `${erasable} WHERE e.click_id COLLATE NOCASE
        IN (SELECT value FROM json_each(?1))
      AND e.order_id IS NULL AND e.user_id IS NULL AND e.kind = 'webhook'
      AND e.position <= ?2 ORDER BY e.position`,
    args: [JSON.stringify(clickIds), position],
  };
}

/** Selects the orders whose state names one of some users. */
export function selectOrdersOfUsers(userIds: readonly string[]): Statement {
  return {
    sql: `SELECT order_id FROM orders WHERE generation = ${liveGeneration}
      AND user_id IN (SELECT value FROM json_each(?1))`,
    args: [JSON.stringify(userIds)],
  };
}

/**
 * Selects how events write a user's id, whatever the case. This walks the index
 * of all user ids.
 */
export function selectSpellings(userId: string): Statement {
  return {
    sql: `SELECT DISTINCT user_id FROM events
      WHERE user_id IS NOT NULL AND user_id = ? COLLATE NOCASE`,
    args: [userId],
  };
}

/**
 * Whether an order stands under a link: the service has shown it there, or was
 * not asked for it yet. An order that the service denies is a forger's.
 */
const standsThere = `(l.confirmed = 1 OR NOT EXISTS (SELECT 1
  FROM observations AS s WHERE s.entity = 'order'
    AND s.entity_id = o.order_id AND s.found = 0))`;

/** Selects orders under click ids in any case: rows of click id, order id. */
export function selectOrdersOfClicks(clickIds: Iterable<string>): Statement {
  return {
    sql: `SELECT DISTINCT w.value, o.order_id FROM json_each(?1) AS w
      CROSS JOIN order_links AS l ON l.generation = ${liveGeneration}
        AND l.kind = 'click' AND l.link = w.value COLLATE NOCASE
      CROSS JOIN orders AS o ON o.row = l.row
      WHERE ${standsThere}`,
    args: [JSON.stringify([...clickIds])],
  };
}

/**
 * Selects orders under links: rows of kind, link, order id, and whether the
 * order stands there: 1, or 0 of one that only webhooks name and the service
 * denies.
 */
export function selectOrdersOfLinks(
  links: readonly (readonly [kind: string, link: string])[],
): Statement {
  return {
    sql: `SELECT l.kind, l.link, o.order_id, ${standsThere}
      FROM json_each(?1) AS w
      CROSS JOIN order_links AS l ON l.generation = ${liveGeneration}
        AND l.kind = w.value ->> 0 AND ${isLink("(w.value ->> 1)")}
      CROSS JOIN orders AS o ON o.row = l.row`,
    args: [JSON.stringify(links)],
  };
}
