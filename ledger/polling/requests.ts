/**
 * What the poller is to ask for: what a webhook named, and orders that may change.
 * Both stand on the rows of orders and users, beside what is known of them.
 */
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import type { Entity } from "../machines/transition.ts";
import { OPEN_AT_MOST_MS } from "../orders/reread_schedule.ts";
import type { OrderFold } from "../orders/order_fold.ts";

import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import { unpackOrder } from "../projection/doc.ts";
import { listed, read, write } from "../store/database.ts";
import { msOf } from "../store/events.ts";
import { finalSinceMs } from "../projection/due.ts";
import type { Urgency } from "../projection/urgency.ts";

/** What waits to be asked for: named by webhooks, or open and lately final. */
export type QueueName = "named" | "open";

/** An order or user that waits to be asked for. */
export interface Waiting {
  readonly entity: Entity;
  readonly entityId: string;
  /** When the last webhook named it, in milliseconds since the epoch. */
  readonly wantedAtMs: number;
  /** Since when it may be asked for, in milliseconds since the epoch. */
  readonly dueAtMs: number;
  readonly urgency: Urgency;
  /** Position of the webhook that made it urgent; 0 where none did. */
  readonly claimedBy: number;
  /** Whether it has to be asked for without others. */
  readonly alone: boolean;
}

const URGENCIES: readonly Urgency[] = [2, 1, 0];

/** Longer than any pause: a later time was stored by a clock gone wrong. */
const NEVER_PAUSED_MS = 3 * 24 * 3_600_000;

/** Ids that a person asked for and no event names, as they stand among cursors. */
const ASKED = "ask:order:";

const tableOf = (entity: Entity) => entity === "order" ? "orders" : "users";
const dueColumn = { named: "named_at", open: "due_at" } as const;

const columns = (queue: QueueName, entity: Entity) =>
  `'${entity}', q.id, coalesce(q.wanted_at, 0), q.${dueColumn[queue]}, ${
    queue === "named" ? "q.urgency, q.claimed_by" : "0, 0"
  }, EXISTS (SELECT 1 FROM set_aside AS a
    WHERE a.entity = '${entity}' AND a.id = q.id)`;

/** Conditions of the queue, by urgency; of open orders none is urgent. */
function urgencies(queue: QueueName): string[] {
  return queue === "open"
    ? ["q.due_at IS NOT NULL"]
    : URGENCIES.map((urgency) =>
      `q.named_at IS NOT NULL AND q.urgency = ${urgency}`
    );
}

/**
 * Selects known ids that are due: the most urgent first, and among these those that
 * are due longest.
 *
 * @param limit How many of each urgency at most.
 */
export function selectKnown(
  queue: QueueName,
  entity: Entity,
  nowMs: number,
  limit: number,
): Statement {
  const due = dueColumn[queue];
  const parts = urgencies(queue).map((which) =>
    `SELECT * FROM (SELECT ${columns(queue, entity)} FROM ${
      tableOf(entity)
    } AS q
      WHERE q.shown = 1 AND ${which} AND q.${due} <= ?1
      ORDER BY q.${due} LIMIT ?2)`
  );
  if (queue === "named" && entity === "order") {
    parts.push(
      `SELECT * FROM (SELECT 'order', substr(c.name, ${
        ASKED.length + 1
      }), c.updated_at, c.updated_at, 0, 0, 0 FROM cursors AS c
      WHERE c.name >= '${ASKED}' AND c.name < 'ask:order;' AND c.updated_at <= ?1
      LIMIT ?2)`,
    );
  }
  return { sql: parts.join("\nUNION ALL "), args: [Math.floor(nowMs), limit] };
}

/**
 * Draws unknown ids that are due, from a random place on: each id of an urgency has
 * the same chance, however many came together; the most urgent come first.
 *
 * @param offset Where to begin, as a share of all ids: at least 0, and below 1.
 * @param limit How many of each urgency at most.
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
  const due = dueColumn[queue];
  const parts = urgencies(queue).map((which) => {
    const from = `FROM ${tableOf(entity)} AS q
      WHERE q.shown = 0 AND ${which} AND q.${due} <= ?1`;
    const some = (most: string, skip: string) =>
      `SELECT * FROM (SELECT ${columns(queue, entity)} ${from}
        ORDER BY q.${due} LIMIT ${most} OFFSET ${skip})`;
    const count = `(SELECT count(*) ${from})`;
    const first = `CAST(?3 * ${count} AS INTEGER)`;
    return `${some("?2", first)} UNION ALL ${
      some(`max(0, min(${first}, ${first} + ?2 - ${count}))`, "0")
    }`;
  });
  return {
    sql: parts.join("\nUNION ALL "),
    args: [Math.floor(nowMs), limit, offset],
  };
}

/** Reads what {@linkcode selectKnown} and {@linkcode drawUnknown} found. */
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

/** Ids that rest by a clock gone wrong. */
const fromTheFuture = (queue: QueueName) =>
  queue === "named"
    ? "shown IN (0, 1) AND urgency IN (0, 1, 2) AND named_at > ?1 AND (wanted_at > ?2 OR named_at > ?3)"
    : "shown IN (0, 1) AND due_at > ?2 AND (open = 1 OR due_at > ?3)";

/** Selects one row that says whether a clock gone wrong has left times to come. */
export function selectUpkeep(queue: QueueName, nowMs: number): Statement {
  const exists = tables(queue).map((table) =>
    `EXISTS (SELECT 1 FROM ${table} WHERE ${fromTheFuture(queue)})`
  );
  return {
    sql: `SELECT (${exists.join(" OR ")}) AND ?1 > 0`,
    args: timesOf(queue, nowMs),
  };
}

/** The statements for what {@linkcode selectUpkeep} found: it counts as never. */
export function keepUp(queue: QueueName, nowMs: number): Statement[] {
  const changes = queue === "named"
    ? "wanted_at = min(wanted_at, ?1), named_at = ?1"
    : "due_at = ?1";
  return tables(queue).map((table) => ({
    sql: `UPDATE ${table} SET ${changes} WHERE ${fromTheFuture(queue)}`,
    args: timesOf(queue, nowMs),
  }));
}

const tables = (queue: QueueName) =>
  queue === "named" ? ["orders", "users"] : ["orders"];

/** Now, the latest time that is plausible, and the latest end of a pause. */
function timesOf(queue: QueueName, nowMs: number): number[] {
  const wholeMs = Math.floor(nowMs);
  const soonMs = wholeMs + CLOCK_TOLERANCE_MS;
  const openMs = queue === "open" ? OPEN_AT_MOST_MS : 0;
  return [wholeMs, soonMs + openMs, soonMs + NEVER_PAUSED_MS];
}

/** An id, until when it rests, and by which webhook it was urgent when read. */
export type Rest = readonly [id: string, untilMs: number, claimedBy?: number];

/**
 * The statement that lets ids rest until a time. What a webhook has made urgent after
 * `claimedBy` rests not; left out, all do.
 */
export function restUntil(
  queue: QueueName,
  entity: Entity,
  rests: readonly Rest[],
): Statement {
  const due = dueColumn[queue];
  const table = tableOf(entity);
  const also = queue === "named" ? "urgency = 0, claimed_by = 0," : "";
  const isOvertaken = queue === "named"
    ? "AND q.claimed_by <= coalesce(w.value ->> 2, q.claimed_by)"
    : "";
  return {
    sql: `UPDATE ${table} SET ${also} ${due} = (SELECT value ->> 1
        FROM json_each(?1) WHERE value ->> 0 = ${table}.id)
      WHERE ${due} IS NOT NULL AND no IN (SELECT q.no FROM json_each(?1) AS w
        CROSS JOIN ${table} AS q ON q.id = w.value ->> 0 ${isOvertaken})`,
    args: [
      JSON.stringify(rests.map(([id, untilMs, ...by]) => [
        id,
        Math.ceil(untilMs),
        ...by,
      ])),
    ],
  };
}

/** Takes out what was asked for, unless a webhook has named it again since. */
export function deleteConfirmed(
  entity: Entity,
  waiting: readonly Waiting[],
): Statement[] {
  const table = tableOf(entity);
  const rows = waiting.map((one) => [
    one.entityId,
    one.wantedAtMs,
    one.claimedBy,
  ]);
  return [
    {
      sql: `UPDATE ${table} SET named_at = NULL, urgency = 0, claimed_by = 0
        WHERE no IN (SELECT q.no FROM json_each(?) AS w
          CROSS JOIN ${table} AS q ON q.id = w.value ->> 0
          WHERE q.named_at IS NOT NULL AND q.claimed_by <= w.value ->> 2
            AND coalesce(q.wanted_at, 0) <= w.value ->> 1)`,
      args: [JSON.stringify(rows)],
    },
    ...entity === "order"
      ? [deleteAsked(waiting.map(({ entityId }) => entityId))]
      : [],
  ];
}

function deleteAsked(ids: readonly string[]): Statement {
  return {
    sql: `DELETE FROM cursors
      WHERE name IN (SELECT '${ASKED}' || value FROM json_each(?))`,
    args: [JSON.stringify(ids)],
  };
}

/** Takes out ids that were read after a webhook had named them. */
export function deleteRead(
  entity: Entity,
  ids: readonly string[],
  requestedAtMs: number,
): Statement {
  const table = tableOf(entity);
  return {
    sql: `UPDATE ${table} SET named_at = NULL, urgency = 0, claimed_by = 0
      WHERE no IN (SELECT q.no FROM json_each(?1) AS w
        CROSS JOIN ${table} AS q ON q.id = w.value
        WHERE q.named_at IS NOT NULL AND coalesce(q.wanted_at, 0) <= ?2)`,
    args: [
      listed(ids.filter((id) => id.isWellFormed() && !id.includes("\0"))),
      requestedAtMs - CLOCK_TOLERANCE_MS,
    ],
  };
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
  const atMs = Math.floor(nowMs);
  await write(driver, [{
    sql: `UPDATE orders SET named_at = min(coalesce(named_at, ?2), ?2),
      wanted_at = max(coalesce(wanted_at, 0), ?2) WHERE id = ?1`,
    args: [orderId, atMs],
  }, {
    sql: `INSERT INTO cursors SELECT '${ASKED}' || ?1, '1', ?2
      WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = ?1)
      ON CONFLICT DO NOTHING`,
    args: [orderId, atMs],
  }]);
}

/** An order that is requested again and again. */
export interface OpenOrder {
  readonly orderId: string;
  readonly fold: OrderFold;
  /** Since when it is final, in ms since the epoch; null while it is open. */
  readonly finalAtMs: number | null;
}

/** Reads what is known of orders that are asked for again. */
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
 *
 * @param after The place before the first; 0 for the beginning.
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

/** Counts the orders that are not final, not confirmed, or contested. */
export async function countOpenOrders(driver: Driver): Promise<number> {
  const [rows] = await read(driver, [{
    sql: `SELECT count(*) FROM orders WHERE due_at IS NOT NULL AND open = 1`,
    args: [],
  }]);
  return Number(rows?.[0]?.[0] ?? 0);
}

/**
 * Counts what webhooks named: rows of `known`, kind, whether it is urgent, number, and
 * oldest time due.
 */
export const countNamed: Statement = {
  sql: `${
    (["order", "user"] as const).map((entity) =>
      `SELECT shown, '${entity}', urgency > 0, count(*), min(named_at)
        FROM ${tableOf(entity)} WHERE named_at IS NOT NULL GROUP BY 1, 3`
    ).join(" UNION ALL ")
  } UNION ALL SELECT * FROM (
      SELECT 0, 'order', 0, count(*) AS asked, min(updated_at) FROM cursors
      WHERE name >= '${ASKED}' AND name < 'ask:order;') WHERE asked > 0`,
  args: [],
};

/** Counts orders never shown, and final ones, that are asked for again. */
export const countOpenQueue: Statement = {
  sql: `SELECT coalesce(sum(shown = 0), 0), coalesce(sum(open = 0), 0)
    FROM orders WHERE due_at IS NOT NULL`,
  args: [],
};

/**
 * Selects when an order or user was last asked for and is again: `asked_at`, whether it
 * was found, when it is due among those that are asked for again, the same where that
 * is because it is final, and when it is due because a webhook named it.
 */
export function selectFreshness(entity: Entity, id: string): Statement {
  const table = tableOf(entity);
  const final = entity === "order" ? "iif(q.open = 0, q.due_at, NULL)" : "NULL";
  return {
    sql: `SELECT s.asked_at, s.found, q.due_at, ${final}, q.named_at
      FROM (SELECT 1) AS one
      LEFT JOIN observations AS s ON s.entity = ?2 AND s.id = ?1
      LEFT JOIN ${table} AS q ON q.id = ?1`,
    args: [id, entity],
  };
}
