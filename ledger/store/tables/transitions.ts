import { Columns, type ColumnsOf, flag, plain } from "./columns.ts";
import {
  type Entity,
  type LoggedRelease,
  type MachineName,
  type NewTransition,
  type ReleaseEntry,
  type Transition,
  transitionKey,
  type TransitionName,
  transitionName,
  type Trust,
  type VisibleStatus,
} from "../../machines/transition.ts";
import type { Driver, ResultSet, Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import { orderFoldSql } from "./orders.ts";
import { RepeatedRows } from "./repeated_rows.ts";
import { pageSize } from "./query_values.ts";

/**
 * The log of transitions: each names its machine, its entry, what was visible
 * before and which final statuses it reverses. All generations share the log,
 * so that a refold repeats no transition.
 *
 * A release has the trust `release`, what was entered as its status, its
 * `reason`, the trust and status that the order `shown`, and what subscribers
 * were told before (`after`). `withheld` is 1 of one that nobody was told of, and
 * that a person is to decide about. `historic` is 1 of one that nobody was told
 * of because it was so before the ledger went live. `fired` is 1 of one that a
 * person had told.
 */
export const transitionsSchema: readonly string[] = [
  `CREATE TABLE transitions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    machine TEXT NOT NULL,
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    entry INTEGER NOT NULL,
    previous TEXT,
    reverses TEXT NOT NULL,
    position INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    live INTEGER NOT NULL,
    shown TEXT,
    reason TEXT,
    after TEXT,
    withheld INTEGER NOT NULL DEFAULT 0,
    historic INTEGER NOT NULL DEFAULT 0,
    fired INTEGER NOT NULL DEFAULT 0,
    UNIQUE (entity, entity_id, machine, trust, status, entry)
  ) STRICT`,
  `CREATE INDEX transitions_withheld ON transitions(seq) WHERE withheld = 1`,
  `CREATE INDEX transitions_historic ON transitions(seq) WHERE historic = 1`,
  `CREATE INDEX transitions_historic_users ON transitions(entity_id)
    WHERE historic = 1 AND entity = 'user'`,
  `CREATE INDEX transitions_paid_twice ON transitions(entity_id)
    WHERE reason = 'paid_twice'`,
];

/** Which transitions to read. */
export interface TransitionQuery {
  /** Only those of orders, or of users. */
  readonly entity?: Entity;
  /** Only those of one order or user. */
  readonly id?: string;
  /** Only those after this `seq`. @default 0 */
  readonly after?: number;
  /** At most this many, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** A transition as it is stored. */
interface StoredTransition extends StoredParts {
  readonly seq: number;
  readonly entity: Entity;
  readonly id: string;
  readonly machine: MachineName;
  readonly trust: string;
  readonly status: string;
  readonly entry: number;
  readonly position: number;
  readonly recordedAt: string;
  readonly live: boolean;
}

/** A transition as it is logged. */
interface LoggedTransition extends Omit<StoredTransition, "seq"> {
  readonly withheld: boolean;
  readonly historic: boolean;
}

const columns: ColumnsOf<Omit<StoredTransition, "seq">> = {
  entity: ["entity", plain()],
  id: ["entity_id", plain()],
  machine: ["machine", plain()],
  trust: ["trust", plain()],
  status: ["status", plain()],
  entry: ["entry", plain()],
  previous: ["previous", plain()],
  reverses: ["reverses", plain()],
  position: ["position", plain()],
  recordedAt: ["recorded_at", plain()],
  live: ["live", flag],
  shown: ["shown", plain()],
  reason: ["reason", plain()],
  after: ["after", plain()],
};

/** What is stored of a transition however it came to be. */
const STATED = new Columns(columns);

/** The columns of a transition; {@linkcode transitionOf} reads them. */
export const TRANSITIONS: Columns<StoredTransition> = new Columns({
  seq: ["seq", plain()],
  ...columns,
});

/** What is stored of a transition. */
const LOGGED = new Columns<LoggedTransition>({
  ...columns,
  withheld: ["withheld", flag],
  historic: ["historic", flag],
});

/** Reads a row that was selected with {@linkcode TRANSITIONS}. */
export function transitionOf(row: ResultSet["rows"][number]): Transition {
  const stored = TRANSITIONS.read(row);
  const { entity, machine, id, trust, status, entry } = stored;
  const named = { entity, machine, id, trust, status, entry };
  const shown = visibleOf(stored.shown);
  return {
    key: transitionKey(named),
    ...named,
    ...shown,
    previous: visibleOf(stored.previous),
    reverses: JSON.parse(stored.reverses),
    logged: shown === null ? null : loggedOf(status, stored.reason ?? ""),
    after: JSON.parse(stored.after ?? "[]"),
    position: stored.position,
    recordedAt: stored.recordedAt,
    seq: stored.seq,
    live: stored.live,
  };
}

function loggedOf(entered: string, reason: string): LoggedRelease {
  const entry = entered as ReleaseEntry;
  return {
    entered: entry,
    release: entry === "restored" ? "yes" : entry,
    reason,
  };
}

function visibleOf(stored: string | null): VisibleStatus | null {
  if (stored === null) return null;
  const [trust, status] = JSON.parse(stored) as [Trust, string];
  return { status, trust };
}

/** Parts of a transition that are stored as JSON or may be absent. */
export interface StoredParts {
  /** Trust and status before; null where nothing was visible. */
  readonly previous: string | null;
  /** What is taken back. */
  readonly reverses: string;
  /** Of a release the trust and status of its order. */
  readonly shown: string | null;
  /** Of a release its reason. */
  readonly reason: string | null;
  /** Of a release what was told before; null where nothing was. */
  readonly after: string | null;
}

/** The parts of a transition as they are stored. */
export function storedParts(
  { previous, reverses, logged, trust, status, after }: Pick<
    Transition,
    "previous" | "reverses" | "logged" | "trust" | "status" | "after"
  >,
): StoredParts {
  return {
    previous: previous === null
      ? null
      : JSON.stringify([previous.trust, previous.status]),
    reverses: JSON.stringify(reverses),
    shown: logged === null ? null : JSON.stringify([trust, status]),
    reason: logged?.reason ?? null,
    after: after.length === 0 ? null : JSON.stringify(after),
  };
}

/**
 * The statement that reads transitions in order.
 *
 * @param query Which ones.
 */
export function selectTransitions(query: TransitionQuery): Statement {
  const conditions = ["seq > ?"];
  const args: (string | number)[] = [query.after ?? 0];
  if (query.entity !== undefined) {
    conditions.push("entity = ?");
    args.push(query.entity);
  }
  if (query.id !== undefined) {
    // Without the entity the index by entity and id could not be used.
    if (query.entity === undefined) {
      conditions.push("entity IN ('order', 'user')");
    }
    conditions.push("entity_id = ?");
    args.push(query.id);
  }
  return {
    sql: `SELECT ${TRANSITIONS.list()} FROM transitions
      WHERE ${conditions.join(" AND ")} ORDER BY seq LIMIT ?`,
    args: [...args, pageSize(query.limit)],
  };
}

/**
 * Reads transitions in the order they were logged.
 *
 * @param query Which ones.
 */
export async function readTransitions(
  driver: Driver,
  query: TransitionQuery = {},
): Promise<Transition[]> {
  const [rows] = await driver.batch([selectTransitions(query)], "read");
  return rows?.rows.map(transitionOf) ?? [];
}

/**
 * Selects what was logged of the release of orders, in order: rows of order,
 * what was entered, reason, entry, whether subscribers were told, and whether it
 * was withheld.
 *
 * @param ids The orders.
 */
export function selectReleases(ids: readonly string[]): Statement {
  return {
    sql: `SELECT t.entity_id, t.status, t.reason, t.entry, t.live, t.withheld
      FROM json_each(?) AS w CROSS JOIN transitions AS t
        ON t.entity = 'order' AND t.entity_id = w.value
          AND t.machine = 'release'
      ORDER BY t.seq`,
    args: [JSON.stringify(ids)],
  };
}

/**
 * Selects a page of the orders of a generation, and of those whose state says
 * another release than was logged last the fold: rows of order, fold or null,
 * whether anything was logged, and whether it had ended before the ledger went
 * live.
 *
 * @param generation Which states.
 * @param page The order before the page, and most orders.
 */
export function selectMovedReleases(
  generation: number,
  page: { readonly afterId: string; readonly limit: number },
): Statement {
  return {
    // Nearly no order has moved, so its fold and its history are looked at last.
    sql: `SELECT o.order_id,
        CASE WHEN (o.release_reason IS NOT l.reason
            OR o.release IS NOT
              CASE l.status WHEN 'restored' THEN 'yes' ELSE l.status END)
          AND (l.status IS NOT NULL OR EXISTS (
            SELECT 1 FROM json_each(o.state, '$.history.snapshot') AS h
            WHERE h.value = 'success'))
          THEN ${orderFoldSql("o")} END,
        l.status IS NOT NULL,
        EXISTS (SELECT 1 FROM historic_orders AS p
          WHERE p.order_id = o.order_id)
      FROM orders AS o LEFT JOIN transitions AS l ON l.seq = (
        SELECT max(t.seq) FROM transitions AS t WHERE t.entity = 'order'
          AND t.entity_id = o.order_id AND t.machine = 'release')
      WHERE o.generation = ?1 AND o.order_id > ?2
      ORDER BY o.order_id LIMIT ?3`,
    args: [generation, page.afterId, page.limit],
  };
}

/** Selects a row where a person had transitions of an order or user told. */
export function selectFired(entity: Entity, id: string): Statement {
  return {
    sql: `SELECT 1 FROM transitions
      WHERE entity = ? AND entity_id = ? AND fired = 1 LIMIT 1`,
    args: [entity, id],
  };
}

/** Reads the `seq` of the last transition; 0 before the first. */
export async function readLastSeq(driver: Driver): Promise<number> {
  const [rows] = await driver.batch([selectLastSeq], "read");
  return Number(rows?.rows[0]?.[0] ?? 0);
}

const selectLastSeq: Statement = {
  sql: "SELECT max(seq) FROM transitions",
  args: [],
};

/** The status that a machine entered last, with a trust. */
const lastEntered = (alias: string) =>
  `(SELECT l.status FROM transitions AS l
    WHERE l.entity = ${alias}.entity AND l.entity_id = ${alias}.entity_id
      AND l.machine = ${alias}.machine AND l.trust = ${alias}.trust
    ORDER BY l.seq DESC LIMIT 1)`;

/** The highest entry that is logged of a status; null without any. */
const highestEntry = (alias: string) =>
  `(SELECT max(h.entry) FROM transitions AS h
    WHERE h.entity = ${alias}.entity AND h.entity_id = ${alias}.entity_id
      AND h.machine = ${alias}.machine AND h.trust = ${alias}.trust
      AND h.status = ${alias}.status)`;

/**
 * Logs transitions in their order: the first entry only, except that a machine
 * of a user may enter a confirmed status again, and the chain a verdict. It
 * enters another one only: back from a claim to what was confirmed before is no
 * entry, so that no webhook can cause one. Such entries are counted here, in the
 * batch that the checkpoint guards; releases were counted by what was logged
 * before.
 */
export function insertTransitions(
  transitions: readonly NewTransition[],
): Statement {
  let recurs = false;
  const rows = transitions.map((transition) => {
    const name = transitionName(transition);
    recurs ||= isCounted(name);
    return LOGGED.write({
      ...name,
      ...storedParts(transition),
      position: transition.position,
      recordedAt: transition.recordedAt,
      live: transition.live,
      withheld: transition.withheld ?? false,
      historic: transition.historic ?? false,
    });
  });
  return {
    sql: recurs ? insertCounted : insert,
    args: [loggedRows.pack(rows)],
  };
}

/** How transitions are passed to the statement that logs them. */
export const loggedRows: RepeatedRows = new RepeatedRows(
  LOGGED.count,
  ([
    ...["entity", "machine", "trust", "status", "entry", "previous"],
    ...["reverses", "live", "shown", "reason", "after"],
    ...["withheld", "historic"],
  ] as const).map((field) => LOGGED.at[field]),
);

/**
 * Whether entries are counted by the log: what a user's machine confirms, and
 * what the chain shows.
 */
function isCounted({ entity, machine, trust }: TransitionName): boolean {
  return machine === "witness" || (entity === "user" && trust === "confirmed");
}

const entered = loggedRows.from("?1");
const enteredValues = loggedRows.sql.join(", ");

const insert = `INSERT INTO transitions (${LOGGED.list()})
  SELECT ${enteredValues} FROM ${entered} WHERE true ORDER BY w.key
  ON CONFLICT DO NOTHING`;

/** Counting costs twice as much as all else, so most batches go without. */
const insertCounted = `INSERT INTO transitions (${LOGGED.list()})
  WITH entered (key, ${LOGGED.list()}) AS (
    SELECT w.key, ${enteredValues} FROM ${entered}
  ), marked AS (
    SELECT *, machine = 'witness' OR (entity = 'user' AND trust = 'confirmed')
      AS recurs FROM entered
  ), successive AS (
    SELECT *, lag(status) OVER (
      PARTITION BY recurs, entity, entity_id, machine ORDER BY key
    ) AS confirmed FROM marked
  ), counted AS (
    SELECT *, row_number() OVER (
      PARTITION BY recurs, entity, entity_id, machine, status ORDER BY key
    ) AS nth
    FROM successive AS a WHERE recurs = 0
      OR coalesce(confirmed, ${lastEntered("a")}) IS NOT status
  )
  SELECT ${
  LOGGED.list(undefined, {
    entry: `CASE recurs WHEN 0 THEN entry ELSE
      coalesce(${highestEntry("c")}, 0) + nth END`,
  })
}
  FROM counted AS c WHERE true ORDER BY key
  ON CONFLICT DO NOTHING`;

/**
 * Selects releases that nobody was told of and a person is to decide about, of
 * orders that stand as they were logged: rows of id, machine, trust, status and
 * entry. What is told of an order that is `restored` is its `yes`.
 *
 * @param limit At most this many.
 */
export function selectWithheld(limit: number): Statement {
  return {
    sql: `SELECT o.entity_id, o.machine, o.trust,
        CASE o.status WHEN 'restored' THEN 'yes' ELSE o.status END,
        CASE o.status WHEN 'restored' THEN 1 ELSE o.entry END
      FROM transitions AS o WHERE o.withheld = 1 AND o.live = 0
        AND NOT EXISTS (SELECT 1 FROM transitions AS l
          WHERE l.entity = 'order' AND l.entity_id = o.entity_id
            AND l.machine = 'release' AND l.seq > o.seq)
      ORDER BY o.seq LIMIT ?`,
    args: [limit],
  };
}

/**
 * Logs releases anew, as told, that were logged as not told. Whoever they are
 * handed to passes the gate of releases: one that was withdrawn is not.
 *
 * @param names What names them; others are passed over.
 * @param recordedAt The time, UTC ISO 8601.
 */
export function logReleasesAgain(
  names: readonly TransitionName[],
  recordedAt: string,
): Statement {
  const rows = names.filter(({ machine }) => machine === "release")
    .map(({ id, status, entry }) => [id, status, entry]);
  return {
    sql: `INSERT OR REPLACE INTO transitions (${STATED.list()}, fired)
      SELECT ${STATED.list("t", { recordedAt: "?1", live: "1" })}, 1
      FROM json_each(?2) AS w JOIN transitions AS t ON t.entity = 'order'
        AND t.entity_id = w.value ->> 0 AND t.machine = 'release'
        AND t.trust = 'release' AND t.status = w.value ->> 1
        AND t.entry = w.value ->> 2
      WHERE t.live = 0 AND (
        SELECT l.seq = t.seq OR (l.status = 'restored' AND t.status = 'yes')
        FROM transitions AS l WHERE l.entity = 'order'
          AND l.entity_id = t.entity_id AND l.machine = 'release'
        ORDER BY l.seq DESC LIMIT 1)
      ORDER BY w.key`,
    args: [recordedAt, JSON.stringify(rows)],
  };
}

/**
 * What the live states show of each machine: generation-less rows of entity,
 * id, machine, trust and status.
 */
const visible: Readonly<Record<Entity, string>> = {
  order: `SELECT 'order' AS entity, o.order_id AS entity_id,
      'order' AS machine, o.trust AS trust, o.status AS status,
      (SELECT a.value -> 'before' FROM json_each(o.state, '$.anomalies') AS a
        WHERE a.value ->> 'kind' = 'final_changed') AS reverses
    FROM orders AS o WHERE o.generation = ${liveGeneration}`,
  user: ["lkyc", "fkyc"].map((machine) =>
    `SELECT 'user' AS entity, u.user_id AS entity_id, '${machine}' AS machine,
      u.state ->> '$.verificationTrust.${machine}' AS trust,
      u.state ->> '$.verification.${machine}' AS status, NULL AS reverses
    FROM users AS u WHERE u.generation = ${liveGeneration}`
  ).concat(`SELECT 'user', u.user_id, 'ban', 'confirmed',
      CASE u.state ->> '$.banned' WHEN 1 THEN 'banned' WHEN 0 THEN 'not_banned'
        END, NULL
    FROM users AS u WHERE u.generation = ${liveGeneration}`).join(
    " UNION ALL ",
  ),
};

/** The logged transition by which a visible status was entered last, or none. */
const joinLogged = `LEFT JOIN transitions AS t ON t.entity = v.entity
    AND t.entity_id = v.entity_id AND t.machine = v.machine
    AND t.trust = v.trust AND t.status = v.status
    AND (v.entity = 'order' OR v.trust = 'claimed'
      OR (t.entry = ${highestEntry("v")}
        AND v.status = ${lastEntered("v")}))`;

/** Which entry it would be, if it is not logged yet. */
const nextEntry =
  `coalesce(t.entry, CASE WHEN v.entity = 'user' AND v.trust = 'confirmed'
    THEN coalesce(${highestEntry("v")}, 0) + 1 ELSE 1 END)`;

/**
 * Selects live states of which there is no transition: rows of id, machine,
 * trust, status and entry.
 *
 * @param entity Orders or users.
 * @param query Whether imported ones count as well, and how many at most.
 */
export function selectUnlogged(
  entity: Entity,
  query: { readonly imported: boolean; readonly limit: number },
): Statement {
  const missing = query.imported
    ? "coalesce(t.live, 0) = 0 AND coalesce(t.historic, 0) = 0"
    : "t.seq IS NULL";
  return {
    sql: `SELECT v.entity_id, v.machine, v.trust, v.status, ${nextEntry}
      FROM (${visible[entity]}) AS v ${joinLogged}
      WHERE v.status IS NOT NULL AND ${missing}
      ORDER BY v.entity_id, v.machine LIMIT ?`,
    args: [query.limit],
  };
}

/**
 * Logs live states as news, unless they were logged as news before.
 *
 * @param entity Orders or users.
 * @param states What names the states; others are passed over.
 * @param recordedAt The time, UTC ISO 8601.
 */
export function logStates(
  entity: Entity,
  states: readonly TransitionName[],
  recordedAt: string,
): Statement {
  const rows = states.filter((state) => state.entity === entity)
    .map(({ id, machine, trust, status }) => [id, machine, trust, status]);
  return {
    sql: `INSERT OR REPLACE INTO transitions (${STATED.list()}, fired)
      SELECT ${
      STATED.list("v", {
        entry: nextEntry,
        previous: "t.previous",
        reverses: "coalesce(t.reverses, v.reverses, '[]')",
        position: "p.position",
        recordedAt: "?1",
        live: "1",
        shown: "NULL",
        reason: "NULL",
        after: "NULL",
      })
    }, 1
      FROM json_each(?2) AS w
      JOIN projections AS p ON p.name = 'live'
      JOIN (${visible[entity]}) AS v ON v.entity_id = w.value ->> 0
        AND v.machine = w.value ->> 1 AND v.trust = w.value ->> 2
        AND v.status = w.value ->> 3
      ${joinLogged}
      WHERE coalesce(t.live, 0) = 0 ORDER BY w.key`,
    args: [recordedAt, JSON.stringify(rows)],
  };
}
