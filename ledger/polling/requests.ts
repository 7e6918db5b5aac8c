/**
 * What the poller is to ask for: what a webhook named, and orders that may change.
 * Both stand on the rows of orders and users, beside what is known of them. Ids that
 * are asked for alone stand apart: the service refuses a request that holds them, they
 * match the orders of others too, or it answers with a row without identifier.
 */
import { CLOCK_TOLERANCE_MS } from "../../core/time/service_time.ts";
import {
  ANNOUNCED,
  type Entity,
  type ObservedChange,
  type Status,
  type WatchedChange,
} from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { OPEN_AT_MOST_MS } from "../orders/order_status.ts";
import {
  finalSinceMs,
  orderRows,
  selectRows,
  unpackOrder,
  type Urgency,
  userRows,
} from "../projection/rows.ts";
import {
  type Driver,
  insertMany,
  listed,
  read,
  readDeciding,
  type ResultSet,
  type Statement,
  write,
} from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, msOf } from "../store/events.ts";
import { ATTEMPTS_FROM_PREVIOUS_MS } from "../../core/waiting/waiting.ts";
import { compareTimes } from "../events/time.ts";
import { type UserFold, userState } from "../users/user_state.ts";

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

/** Ids that a person asked for and no event names, as they stand among cursors. */
const ASKED = "ask:order:";
const ARE_ASKED = `c.name >= '${ASKED}' AND c.name < 'ask:order;'`;

/**
 * Selects what is due, the most urgent first; of open orders none is urgent.
 */
function selectDue(
  queue: QueueName,
  entity: Entity,
  shown: 0 | 1,
  select: (
    from: string,
    some: (most: string, skip: string) => string,
  ) => string,
): string {
  const due = `q.${DUE[queue]}`;
  const urgency = queue === "named" ? "q.urgency, q.claimed_by" : "0, 0";
  const which = queue === "open"
    ? [`${due} IS NOT NULL`]
    : [2, 1, 0].map((one) => `${due} IS NOT NULL AND q.urgency = ${one}`);
  return which.map((one) => {
    const from = `FROM ${TABLES[entity]} AS q
      WHERE q.shown = ${shown} AND ${one} AND ${due} <= ?1`;
    return select(
      from,
      (most, skip) =>
        `SELECT * FROM (SELECT '${entity}', q.id, coalesce(q.wanted_at, 0), ${due},
          ${urgency}, EXISTS (SELECT 1 FROM set_aside AS a
            WHERE a.entity = '${entity}' AND a.id = q.id)
        ${from} ORDER BY ${due} LIMIT ${most} OFFSET ${skip})`,
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
  const known = selectDue(queue, entity, 1, (_, some) => some("?2", "0"));
  const asked = queue === "named" && entity === "order"
    ? `UNION ALL SELECT * FROM (SELECT 'order', substr(c.name, ${
      ASKED.length + 1
    }), c.updated_at, c.updated_at, 0, 0, 0 FROM cursors AS c
      WHERE ${ARE_ASKED} AND c.updated_at <= ?1 LIMIT ?2)`
    : "";
  return { sql: `${known} ${asked}`, args: [Math.floor(nowMs), limit] };
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
  const sql = selectDue(queue, entity, 0, (from, some) => {
    const count = `(SELECT count(*) ${from})`;
    const first = `CAST(?3 * ${count} AS INTEGER)`;
    const again = `max(0, min(${first}, ${first} + ?2 - ${count}))`;
    return `${some("?2", first)} UNION ALL ${some(again, "0")}`;
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
  return {
    sql: `UPDATE ${table} SET named_at = NULL, urgency = 0, claimed_by = 0
      WHERE ${
      ofListed(
        table,
        `q.named_at IS NOT NULL AND ${NOT_OVERTAKEN}
          AND coalesce(q.wanted_at, 0) <= w.value ->> 1`,
      )
    }`,
    args: [JSON.stringify(rows)],
  };
}

/** Takes out what was asked for, unless a webhook has named it again since. */
export function deleteConfirmed(
  entity: Entity,
  waiting: readonly Waiting[],
): Statement[] {
  const named = waiting.map((one) =>
    [one.entityId, one.wantedAtMs, one.claimedBy] as const
  );
  return [
    deleteNamed(entity, named),
    ...entity === "user" ? [] : [{
      sql: `DELETE FROM cursors
        WHERE name IN (SELECT '${ASKED}' || value FROM json_each(?))`,
      args: [listed(waiting.map(({ entityId }) => entityId))],
    }],
  ];
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
  const args = [orderId, Math.floor(nowMs)];
  await write(driver, [{
    sql: `UPDATE orders SET named_at = min(coalesce(named_at, ?2), ?2),
      wanted_at = max(coalesce(wanted_at, 0), ?2) WHERE id = ?1`,
    args,
  }, {
    sql: `INSERT INTO cursors SELECT '${ASKED}' || ?1, '1', ?2
      WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = ?1)
      ON CONFLICT DO NOTHING`,
    args,
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
  sql: `${
    (["orders", "users"] as const).map((table) =>
      `SELECT shown, count(*), min(named_at) FROM ${table}
        WHERE named_at IS NOT NULL GROUP BY 1`
    ).join(" UNION ALL ")
  } UNION ALL SELECT * FROM (
      SELECT 0, count(*) AS asked, min(updated_at) FROM cursors AS c
      WHERE ${ARE_ASKED}) WHERE asked > 0`,
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
  const text = why.toWellFormed().replaceAll("\0", "").slice(0, LONGEST_WHY);
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

/** The latest reading of an order or a user. */
export interface Observation {
  readonly entityId: string;
  /** When we asked, by our clock, UTC ISO 8601 with milliseconds. */
  readonly requestedAt: string;
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  readonly digest: string;
  /** Whether it knew the entity. */
  readonly found: boolean;
  /** Status of an order; null for users and where there was none. */
  readonly status: Status | null;
}

/** A reading in the ledger, as far as its rank among the others goes. */
export interface CountingReading {
  /** Effective time of the change that it states; empty for users. */
  readonly changedAt: string;
  /** Effective time of the reading, UTC ISO 8601. */
  readonly readAt: string;
  readonly digest: string;
  /** Whether the change that it states lies ahead of it. */
  readonly isAhead: boolean;
}

/** When an order was last there and last not, by effective times. */
export interface Presence {
  /** Last reading that did not find it, UTC ISO 8601. */
  readonly absentAt: string;
  /** Last reading that showed it, UTC ISO 8601; null when none did. */
  readonly seenAt: string | null;
}

/** What is known of an order or a user before a reading. */
interface Known {
  /** Null where it was never read. */
  readonly latest: Observation | null;
  /**
   * The reading that counts in its state: the latest by effective times. It is not the
   * last one to arrive where a clock was set back.
   */
  readonly counting: CountingReading | null;
  /** Of an order that was absent once. */
  readonly presence: Presence | null;
  /**
   * A user whom a webhook claims to be further than it was read. Only a later reading
   * can settle that, so one that says the same again is stored too.
   */
  readonly isUnsettled: boolean;
  /**
   * No event has the body of its latest reading any more: it was erased, and must not
   * come back because the service says the same again.
   */
  readonly isErased: boolean;
}

/** What is known, and the version it was true at. */
export interface ObservationsRead {
  readonly known: ReadonlyMap<string, Known>;
  /** Whether anybody was ever erased. */
  readonly anyErased: boolean;
  /** What {@linkcode moveVersion} compares with. */
  readonly version: string;
}

/** Counter that every batch of readings moves, so that two writers never both win. */
const VERSION = "observations";

/**
 * Reads the latest observations. Where there is none, as after an import, it is worked
 * out from what is folded.
 */
export async function readObservations(
  driver: Driver,
  entity: Entity,
  ids: readonly string[],
): Promise<ObservationsRead> {
  const wanted = listed(ids);
  const [versions, rows = [], folds] = await readDeciding(driver, [
    {
      sql:
        `SELECT coalesce((SELECT value FROM cursors WHERE name = '${VERSION}'),
        '0'), erasures > 0 FROM ledger`,
      args: [],
    },
    {
      sql:
        `SELECT id, asked_at, read_at, digest, found, status FROM observations
        WHERE entity = ? AND id IN (SELECT value FROM json_each(?))`,
      args: [entity, wanted],
    },
    selectRows(
      entity === "order" ? "orders" : "users",
      "r.id IN (SELECT value FROM json_each(?))",
      wanted,
    ),
  ]);
  const known = new Map(
    entity === "order"
      ? [...orderRows(folds)].map(([id, { fold }]) => [id, ofOrder(fold)])
      : [...userRows(folds)].map(([id, { fold }]) => [id, ofUser(fold)]),
  );
  const [version, hasErased] = versions?.[0] ?? [];
  const anyErased = hasErased === 1;
  const isCounting = (id: string, digest: string) =>
    known.get(id)?.counting?.digest === digest;
  // Where a clock was set back, another reading than the last one counts.
  const others = rows.filter(([id, , , digest, found]) =>
    anyErased && found === 1 && !isCounting(String(id), String(digest))
  ).map(([id]) => String(id));
  const bodies = others.length === 0
    ? new Set()
    : await digestsOf(driver, entity, others);
  for (const [id, requestedAt, readAt, digest, found, status = null] of rows) {
    const entityId = String(id);
    const folded = known.get(entityId) ?? UNKNOWN;
    const isErased = others.includes(entityId) &&
      !bodies.has(`${entityId} ${digest}`);
    const latest = {
      ...{ entityId, requestedAt: String(requestedAt) },
      ...{ readAt: String(readAt), digest: String(digest) },
      ...{ found: found === 1, status: status as string | null },
    };
    known.set(entityId, { ...folded, latest, isErased });
  }
  return { known, anyErased, version: String(version ?? "0") };
}

/** Digests of the readings of these that still have their bodies, each behind its id. */
async function digestsOf(
  driver: Driver,
  entity: Entity,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const [rows] = await readDeciding(driver, [{
    sql: `SELECT ${EVENT_COLUMNS} FROM json_each(?) AS w
      CROSS JOIN ${entity}s AS q ON q.id = w.value
      CROSS JOIN mentions AS m ON m.no = q.no
      CROSS JOIN events AS e ON e.position = m.position
        AND e.kind = '${entity}_snapshot'`,
    args: [listed(ids)],
  }]);
  return new Set(
    eventsOf(rows).map((event) => `${event[`${entity}Id`]} ${event.digest}`),
  );
}

const UNKNOWN: Known = {
  ...{ latest: null, counting: null, presence: null },
  ...{ isUnsettled: false, isErased: false },
};

/** What is folded, as if it were observed. */
function ofOrder(
  { orderId: entityId, absentAt, seenAt, latest, ahead, statusless }: OrderFold,
): Known {
  const isAbsent = absentAt !== null &&
    (seenAt === null || compareTimes(absentAt, seenAt) > 0);
  const shown = isAbsent ? null : latest;
  const readAt = isAbsent ? absentAt : latest?.readAt ?? "";
  // One without a status that seems later is told of until a reading overtakes it.
  const last = latest !== null && statusless !== null &&
      compareTimes(statusless.readAt, latest.readAt) >= 0
    ? statusless
    : latest;
  return {
    ...UNKNOWN,
    presence: absentAt === null ? null : { absentAt, seenAt },
    latest: latest === null && absentAt === null ? null : {
      ...{ entityId, readAt, requestedAt: readAt, found: !isAbsent },
      ...{ digest: shown?.digest ?? "", status: shown?.status || null },
    },
    counting: last && {
      ...{ readAt: last.readAt, digest: last.digest },
      // A new reading states it with milliseconds, and the text decides.
      changedAt: last.changedAt.replace(/:(\d\d)Z$/, ":$1.000Z"),
      isAhead: last === ahead && last.statedChangedAt !== null,
    },
  };
}

function ofUser(fold: UserFold): Known {
  const isUnsettled = userState(fold).needsConfirm;
  if (fold.latest === null) return { ...UNKNOWN, isUnsettled };
  const { userId: entityId, latest: { readAt, digest } } = fold;
  const more = { requestedAt: readAt, found: true, status: null };
  return {
    ...{ ...UNKNOWN, isUnsettled },
    latest: { entityId, readAt, digest, ...more },
    counting: { changedAt: "", readAt, digest, isAhead: false },
  };
}

/**
 * The statement that begins a batch of observations. The batch fails with `conflict`
 * when others were written since they were read.
 */
export function moveVersion(version: string): Statement[] {
  return [{
    sql: `INSERT INTO cursors VALUES ('${VERSION}', '1', 0)
      ON CONFLICT (name) DO UPDATE SET value = CASE value WHEN ?
        THEN CAST(value + 1 AS TEXT) END`,
    args: [version],
    expects: true,
  }];
}

/**
 * The statement that stores observations, unless a later one is stored. A stored time
 * in the future does not count as later: our clock was set back.
 */
export function writeObservations(
  entity: Entity,
  observations: readonly Observation[],
  nowMs: number,
): Statement {
  return {
    sql: `INSERT INTO observations
        (entity, id, asked_at, read_at, digest, found, status)
      SELECT ?1, value ->> 'entityId', value ->> 'requestedAt', value ->> 'readAt',
        value ->> 'digest', value ->> 'found', value ->> 'status'
      FROM json_each(?2) WHERE true
      ON CONFLICT (entity, id) DO UPDATE SET
        asked_at = excluded.asked_at, read_at = excluded.read_at,
        digest = excluded.digest, found = excluded.found,
        status = excluded.status
      WHERE excluded.asked_at >= asked_at OR asked_at > ?3`,
    args: [
      entity,
      JSON.stringify(observations),
      new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
    ],
  };
}

interface ConfirmingRead {
  readonly ids: readonly string[];
  /** Those of them whose reading was new: their pause starts again. */
  readonly changed: readonly string[];
  /** When they were asked for, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
  readonly shortestMs: number;
  readonly longestMs: number;
}

/**
 * Lets ids rest after a confirming read: for the shortest time, and twice as long each
 * time that webhooks named it again and nothing had changed.
 */
export function restAfterRead(
  entity: Entity,
  { ids, changed, requestedAtMs, shortestMs, longestMs }: ConfirmingRead,
): Statement {
  // Left in peace for as long as it rested, it begins anew.
  const rest = `CASE WHEN rests_until IS NULL
      OR id IN (SELECT value FROM json_each(?6))
      OR rests_until > ?3 + rest_ms OR rests_until < ?3 - rest_ms
    THEN ?4 ELSE min(?5, max(?4, 2 * rest_ms)) END`;
  return {
    sql: `UPDATE observations SET rest_ms = ${rest}, rests_until = ?3 + ${rest}
      WHERE entity = ?1 AND id IN (SELECT value FROM json_each(?2))`,
    args: [
      ...[entity, listed(ids), Math.floor(requestedAtMs)],
      ...[shortestMs, longestMs, listed(changed)],
    ],
  };
}

/** Rows of kind and number. */
export const countObserved: Statement = {
  sql: `SELECT entity, count(*) FROM observations
    WHERE found = 1 GROUP BY entity`,
  args: [],
};

export const KEEP_CHANGES_MS: number = 3 * 24 * 3_600_000;

interface Move extends ObservedChange {
  readonly orderId: string;
}

export function insertObservedChanges(moves: readonly Move[]): Statement[] {
  return insertMany(
    "observed (order_id, status, moved_at, seen_at)",
    moves.map((one) => [one.orderId, one.status, one.movedAt, one.seenAt]),
    "ON CONFLICT (order_id, status) DO NOTHING",
  );
}

/** How long after a move was seen its webhook may come, in seconds. */
const ANNOUNCED_WITHIN_SECONDS =
  (Math.max(...ATTEMPTS_FROM_PREVIOUS_MS) + CLOCK_TOLERANCE_MS) / 1000;

/** When the webhook that announces a move must be there, in our form of times. */
const LATEST = `strftime('%Y-%m-%dT%H:%M:%fZ', m.seen_at,
  '+${ANNOUNCED_WITHIN_SECONDS} seconds')`;

/** Our form of the time of an event, which is stored as ms where that loses nothing. */
const RECORDED_AT = `CASE typeof(e.recorded_at) WHEN 'integer'
  THEN strftime('%Y-%m-%dT%H:%M:%fZ', e.recorded_at / 1000.0, 'unixepoch')
  ELSE e.recorded_at END`;

const TYPE = `CASE WHEN json_valid(CAST(e.body AS TEXT))
  THEN CAST(e.body AS TEXT) ->> '$.type' END`;

/**
 * Whether the webhook that announces a move was recorded: before the move was seen, or
 * while the service was still trying.
 */
const IS_ANNOUNCED = `CASE m.status ${
  Object.entries(ANNOUNCED).map(([status, types]) =>
    `WHEN '${status}' THEN EXISTS (SELECT 1 FROM orders AS o
        CROSS JOIN mentions AS n ON n.no = o.no
        CROSS JOIN events AS e ON e.position = n.position
      WHERE o.id = m.order_id AND e.kind = 'webhook'
        AND ${RECORDED_AT} <= ${LATEST}
        AND ${TYPE} IN (${types.map((type) => `'${type}'`).join(", ")}))`
  ).join(" ")
} ELSE 1 END`;

/** Reads the last moves, by time, and whether a webhook announced each. */
export async function readObservedChanges(
  driver: Driver,
  { watchedSince, nowMs }: {
    readonly watchedSince: string;
    readonly nowMs: number;
  },
  limit: number,
): Promise<WatchedChange[]> {
  const [rows = []] = await read(driver, [{
    sql: `SELECT m.order_id, m.status, m.moved_at, m.seen_at, ${IS_ANNOUNCED}
      FROM observed AS m WHERE m.moved_at > ? AND m.moved_at <= ?
      ORDER BY m.moved_at DESC LIMIT ?`,
    args: [watchedSince, new Date(nowMs).toISOString(), limit],
  }]);
  return rows.map(([orderId, status, movedAt, seenAt, announced]) => ({
    orderId: String(orderId),
    status: String(status),
    movedAt: String(movedAt),
    seenAt: String(seenAt),
    announced: announced === 1,
  })).reverse();
}

/**
 * Deletes moves that are old, but for the last ones. Those that were seen at a time to
 * come, before our clock was set back, are dated to now: they are past, and not
 * reported again when the clock comes to that time again.
 */
export function tidyObservedChanges(nowMs: number, keep: number): Statement[] {
  const time = (ms: number) => new Date(ms).toISOString();
  return [{
    sql: `UPDATE observed SET moved_at = min(moved_at, ?1), seen_at = ?1
      WHERE seen_at > ?2`,
    args: [time(nowMs), time(nowMs + CLOCK_TOLERANCE_MS)],
  }, {
    sql: `DELETE FROM observed WHERE moved_at < min(?1, (SELECT moved_at
      FROM observed ORDER BY moved_at DESC LIMIT 1 OFFSET ?2))`,
    args: [time(nowMs - KEEP_CHANGES_MS), keep - 1],
  }];
}
