/**
 * What the poller is to ask for: what a webhook named, and orders that may change.
 * Both stand on the rows of orders and users, beside what is known of them. Ids that
 * are asked for alone stand apart: the service refuses a request that holds them, they
 * match the orders of others too, or it answers with a row without identifier.
 */
import { CLOCK_TOLERANCE_MS } from "../../core/time/service_time.ts";
import type { Entity } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { OPEN_AT_MOST_MS } from "../orders/order_status.ts";
import { finalSinceMs, unpackOrder, type Urgency } from "../projection/rows.ts";
import {
  type Driver,
  listed,
  read,
  type ResultSet,
  type Statement,
  write,
} from "../store/database.ts";
import { msOf } from "../store/events.ts";

/** What waits to be asked for: named by webhooks, or open and lately final. */
export type QueueName = "named" | "open";

/** Times are ms since the epoch. */
export interface Waiting {
  readonly entity: Entity;
  readonly entityId: string;
  /** When the last webhook named it. */
  readonly wantedAtMs: number;
  /** Since when it may be asked for. */
  readonly dueAtMs: number;
  readonly urgency: Urgency;
  /** Position of the webhook that made it urgent; 0 where none did. */
  readonly claimedBy: number;
  /** Whether it has to be asked for without others. */
  readonly alone: boolean;
}

/** Longer than any pause: a later time was stored by a clock gone wrong. */
const NEVER_PAUSED_MS = 3 * 24 * 3_600_000;

const TABLES = { order: "orders", user: "users" } as const;

const DUE = { named: "named_at", open: "due_at" } as const;

/**
 * Selects some of what is due, the most urgent first; of open orders none is urgent.
 */
function selectDue(
  queue: QueueName,
  entity: Entity,
  shown: 0 | 1,
  limits: (count: string) => readonly string[],
): string {
  const due = `q.${DUE[queue]}`;
  const isOpen = queue === "open";
  const urgencies = isOpen
    ? [""]
    : [2, 1, 0].map((n) => `q.urgency = ${n} AND`);
  return urgencies.flatMap((which) => {
    const from = `FROM ${TABLES[entity]} AS q WHERE q.shown = ${shown}
      AND ${due} IS NOT NULL AND ${which} ${due} <= ?1`;
    return limits(`(SELECT count(*) ${from})`).map((limit) =>
      `SELECT * FROM (SELECT '${entity}', q.id, coalesce(q.wanted_at, 0), ${due},
          ${isOpen ? "0, 0" : "q.urgency, q.claimed_by"}, EXISTS (
            SELECT 1 FROM set_aside AS a
            WHERE a.entity = '${entity}' AND a.id = q.id)
        ${from} ORDER BY ${due} LIMIT ${limit})`
    );
  }).join("\nUNION ALL ");
}

/**
 * Selects known ids that are due: the most urgent first, and among these those that
 * are due longest.
 */
export function selectKnown(
  queue: QueueName,
  entity: Entity,
  nowMs: number,
  limit: number,
): Statement {
  const sql = selectDue(queue, entity, 1, () => ["?2"]);
  return { sql, args: [Math.floor(nowMs), limit] };
}

/**
 * Draws unknown ids that are due, from a random place on: each id of an urgency has
 * the same chance, however many came together; the most urgent come first.
 */
export function drawUnknown(
  queue: QueueName,
  entity: Entity,
  { nowMs, offset, limit }: {
    readonly nowMs: number;
    readonly offset: number;
    readonly limit: number;
  },
): Statement {
  const sql = selectDue(queue, entity, 0, (count) => {
    const first = `CAST(?3 * ${count} AS INTEGER)`;
    const again = `max(0, min(${first}, ${first} + ?2 - ${count}))`;
    return [`?2 OFFSET ${first}`, again];
  });
  return { sql, args: [Math.floor(nowMs), limit, offset] };
}

export function waitingOf(found: ResultSet | undefined): Waiting[] {
  return (found?.rows ?? []).map((row) => ({
    entity: row[0] as Entity,
    entityId: String(row[1]),
    wantedAtMs: Number(row[2]),
    dueAtMs: Number(row[3]),
    urgency: Number(row[4]) as Urgency,
    claimedBy: Number(row[5]),
    alone: row[6] === 1,
  }));
}

/** Times to come that a clock gone wrong has left count as never. */
export function keepUp(queue: QueueName, nowMs: number): Statement[] {
  const isNamed = queue === "named";
  const wholeMs = Math.floor(nowMs);
  const soonMs = wholeMs + CLOCK_TOLERANCE_MS;
  const latestMs = soonMs + (isNamed ? 0 : OPEN_AT_MOST_MS);
  const change = isNamed
    ? `wanted_at = min(wanted_at, ?1), named_at = ?1
      WHERE shown IN (0, 1) AND urgency IN (0, 1, 2) AND named_at > ?1
        AND (wanted_at > ?2 OR named_at > ?3)`
    : `due_at = ?1 WHERE shown IN (0, 1) AND due_at > ?2
      AND (open = 1 OR due_at > ?3)`;
  return (isNamed ? ["orders", "users"] : ["orders"]).map((table) => ({
    sql: `UPDATE ${table} SET ${change}`,
    args: [wholeMs, latestMs, soonMs + NEVER_PAUSED_MS],
  }));
}

/** An id, until when it rests, and by which webhook it was urgent when read. */
export type Rest = readonly [id: string, untilMs: number, claimedBy?: number];

/** Rows of JSON that begins with an id, as `w`, and what the table has of them. */
const ofListed = (table: string, where: string) =>
  `no IN (SELECT q.no FROM json_each(?1) AS w
    CROSS JOIN ${table} AS q ON q.id = w.value ->> 0 WHERE ${where})`;

/** No webhook has made it urgent since it was read. */
const NOT_OVERTAKEN = "q.claimed_by <= coalesce(w.value ->> 2, q.claimed_by)";

/**
 * The statement that lets ids rest until a time. What a webhook has made urgent after
 * `claimedBy` rests not; left out, all do.
 */
export function restUntil(
  queue: QueueName,
  entity: Entity,
  rests: readonly Rest[],
): Statement {
  const due = DUE[queue];
  const table = TABLES[entity];
  const isNamed = queue === "named";
  const rows = rests.map(([id, ms, ...by]) => [id, Math.ceil(ms), ...by]);
  return {
    sql: `UPDATE ${table} SET ${isNamed ? "urgency = 0, claimed_by = 0," : ""}
        ${due} = (SELECT value ->> 1
          FROM json_each(?1) WHERE value ->> 0 = ${table}.id)
      WHERE ${due} IS NOT NULL
        AND ${ofListed(table, isNamed ? NOT_OVERTAKEN : "true")}`,
    args: [JSON.stringify(rows)],
  };
}

/** Takes out ids that no webhook has named, or made urgent, since. */
function deleteNamed(
  entity: Entity,
  rows: readonly (readonly [id: string, wantedAtMs: number, by?: number])[],
): Statement {
  const table = TABLES[entity];
  const which = ofListed(
    table,
    `q.named_at IS NOT NULL AND ${NOT_OVERTAKEN}
      AND coalesce(q.wanted_at, 0) <= w.value ->> 1`,
  );
  return {
    sql: `UPDATE ${table} SET named_at = NULL, urgency = 0, claimed_by = 0
      WHERE ${which}`,
    args: [JSON.stringify(rows)],
  };
}

/** Takes out what was asked for, unless a webhook has named it again since. */
export function deleteConfirmed(
  entity: Entity,
  waiting: readonly Waiting[],
): Statement {
  return deleteNamed(
    entity,
    waiting.map((one) => [one.entityId, one.wantedAtMs, one.claimedBy]),
  );
}

/** Takes out ids that were read after a webhook had named them. */
export function deleteRead(
  entity: Entity,
  ids: readonly string[],
  requestedAtMs: number,
): Statement {
  const latestMs = requestedAtMs - CLOCK_TOLERANCE_MS;
  const readable = ids.filter((id) => id.isWellFormed() && !id.includes("\0"));
  return deleteNamed(entity, readable.map((id) => [id, latestMs]));
}

/** Takes orders out that have had their last read, unless they opened again. */
export function deleteFinal(ids: readonly string[]): Statement {
  return {
    sql: `UPDATE orders SET due_at = NULL
      WHERE open = 0 AND id IN (SELECT value FROM json_each(?))`,
    args: [listed(ids)],
  };
}

/** Puts an order among those that the poller reads next, as a webhook does. */
export async function requestOrder(
  driver: Driver,
  orderId: string,
  nowMs: number,
): Promise<void> {
  await write(driver, [{
    sql: `UPDATE orders SET named_at = min(coalesce(named_at, ?2), ?2),
      wanted_at = max(coalesce(wanted_at, 0), ?2) WHERE id = ?1`,
    args: [orderId, Math.floor(nowMs)],
  }]);
}

export interface OpenOrder {
  readonly orderId: string;
  readonly fold: OrderFold;
  /** Since when it is final, in ms since the epoch; null while it is open. */
  readonly finalAtMs: number | null;
}

export async function readOpenOrders(
  driver: Driver,
  ids: readonly string[],
): Promise<OpenOrder[]> {
  const [rows = []] = await read(driver, [{
    sql: `SELECT o.id, o.fold, o.open FROM json_each(?) AS w
      CROSS JOIN orders AS o ON o.id = w.value WHERE o.due_at IS NOT NULL`,
    args: [listed(ids)],
  }]);
  return rows.map(([id, document, open]) => {
    const fold = unpackOrder(String(id), String(document));
    const lastMs = msOf(fold.activity.lastAt) ?? 0;
    const finalAtMs = open === 1 ? null : finalSinceMs(fold, lastMs);
    return { orderId: fold.orderId, fold, finalAtMs };
  });
}

/**
 * Reads orders that are not final, not confirmed, or contested, by their place, due or
 * not; without those that the service refuses.
 */
export async function readQueuedOrders(
  driver: Driver,
  after: number,
  limit: number,
): Promise<{ readonly seq: number; readonly orderId: string }[]> {
  const [rows = []] = await read(driver, [{
    sql: `SELECT o.no, o.id FROM orders AS o
      WHERE o.no > ? AND o.open = 1 AND o.due_at IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM set_aside AS a WHERE a.entity = 'order' AND a.id = o.id)
      ORDER BY o.no LIMIT ?`,
    args: [after, limit],
  }]);
  return rows.map(([no, id]) => ({ seq: Number(no), orderId: String(id) }));
}

/** Counts what webhooks named: rows of `known`, number, and oldest time due. */
export const countNamed: Statement = {
  sql: Object.values(TABLES).map((table) =>
    `SELECT shown, count(*), min(named_at) FROM ${table}
      WHERE named_at IS NOT NULL GROUP BY 1`
  ).join(" UNION ALL "),
  args: [],
};

/**
 * Counts orders that are asked for again: open ones, and lately final ones; and
 * selects when the one of those that the service has shown was due that is due first.
 */
export const countOpenQueue: Statement = {
  sql: `SELECT coalesce(sum(open = 1), 0), coalesce(sum(open = 0), 0),
    min(iif(shown = 1, due_at, NULL)) FROM orders WHERE due_at IS NOT NULL`,
  args: [],
};

/**
 * Selects when an order or user was last asked for and is again: `asked_at`, whether it
 * was found, when it is due among those that are asked for again, the same where that
 * is because it is final, and when it is due because a webhook named it.
 */
export function selectFreshness(entity: Entity, id: string): Statement {
  const final = entity === "order" ? "iif(q.open = 0, q.due_at, NULL)" : "NULL";
  return {
    sql: `SELECT s.asked_at, s.found, q.due_at, ${final}, q.named_at
      FROM (SELECT 1) AS one
      LEFT JOIN observations AS s ON s.entity = ?2 AND s.id = ?1
      LEFT JOIN ${TABLES[entity]} AS q ON q.id = ?1`,
    args: [id, entity],
  };
}

/** An id that is requested alone, and why. */
export interface IsolatedId {
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** The id that the service refuses. */
  readonly entityId: string;
  /**
   * - `refused`: the service fails each request that holds it.
   * - `crowded`: it is the click id or external id of many orders as well.
   * - `unnamed`: the service answers with a row without identifier.
   */
  readonly kind: "refused" | "crowded" | "unnamed";
  /** What the service said, in one sentence. */
  readonly why: string;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** Refusals in a row. */
  readonly attempts: number;
  /** When it is asked for again, UTC ISO 8601. */
  readonly nextAttemptAt: string;
}

const LONGEST_WHY = 300;

const COLUMNS = "entity, id, kind, why, since, attempts, again_at";

export function forgetIsolated(
  entity: Entity,
  ids: readonly string[],
): Statement {
  return {
    sql: `DELETE FROM set_aside
      WHERE entity = ? AND id IN (SELECT value FROM json_each(?))`,
    args: [entity, listed(ids)],
  };
}

/** The ids that are refused longest, and behind each how many there are in all. */
export function selectRefused(limit: number): Statement {
  return {
    sql: `SELECT ${COLUMNS}, count(*) OVER () FROM set_aside
      WHERE kind = 'refused' ORDER BY since LIMIT ?`,
    args: [limit],
  };
}

export function selectIsolated(entity: Entity, entityId: string): Statement {
  return {
    sql: `SELECT ${COLUMNS} FROM set_aside WHERE entity = ? AND id = ?`,
    args: [entity, entityId],
  };
}

export function isolatedIdsOf(found: ResultSet | undefined): IsolatedId[] {
  return (found?.rows ?? []).map((row) => ({
    entity: row[0] as Entity,
    entityId: String(row[1]),
    kind: row[2] as IsolatedId["kind"],
    why: String(row[3]),
    since: String(row[4]),
    attempts: Number(row[5]),
    nextAttemptAt: new Date(Number(row[6])).toISOString(),
  }));
}

/** Remembers what is odd about an id; `since` stays while it is the same. */
export function upsertIsolated(
  { entity, entityId, kind, why, since, attempts, nextAttemptAt }: IsolatedId,
): Statement {
  const text = why.replaceAll("\0", "").slice(0, LONGEST_WHY).toWellFormed();
  return {
    sql: `INSERT INTO set_aside (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (entity, id) DO UPDATE SET kind = excluded.kind,
        why = excluded.why,
        since = CASE WHEN kind = excluded.kind THEN since ELSE excluded.since END,
        attempts = excluded.attempts, again_at = excluded.again_at`,
    args: [
      ...[entity, entityId, kind, text, since, attempts],
      Date.parse(nextAttemptAt),
    ],
  };
}
