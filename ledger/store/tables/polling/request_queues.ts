import { Columns, flag, plain } from "../columns.ts";
import type { Entity } from "../../../machines/transition.ts";
import { CLOCK_TOLERANCE_MS } from "../../../../core/time/plausible_time.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";
import { orderFoldSql } from "../orders.ts";
import { entityIdSql, firstEventOf, placesOfIds } from "./request_places.ts";

/**
 * What the poller is to ask for, in two queues, one row a place in a queue:
 *
 * - 0, `named`: entities that a fresh webhook named.
 * - 1, `open`: orders that are asked about again and again. `final_at` is set
 *   for orders that are final and are read again a few times.
 *
 * `place` is the position of the first event that names the entity, and stands
 * for its id, so that no id of a stranger is stored here. What no event names has
 * its `entity_id`; {@linkcode entityIdSql} reads either.
 *
 * Whether the service ever showed one is `known`. Known ones are asked for by
 * `urgency` and `due_at`, the others are drawn by chance among those that are
 * `ready`. `wanted_at` is when the last webhook came, or when the place in the
 * queue was given. `urgency` is 2 where a webhook was the first to claim a final
 * status since the last read, 1 where it was the first to claim another, else 0;
 * `claimed_by` is the position of the last such webhook, else 0. Times are
 * milliseconds since the epoch.
 */
export const requestsSchema: readonly string[] = [
  `CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    entity TEXT NOT NULL,
    place INTEGER,
    entity_id TEXT,
    urgency INTEGER NOT NULL DEFAULT 0,
    claimed_by INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL,
    ready INTEGER NOT NULL,
    wanted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    final_at INTEGER,
    UNIQUE (place, entity, queue)
  ) STRICT`,
  `CREATE UNIQUE INDEX requests_by_id ON requests(entity_id, entity, queue)
    WHERE entity_id IS NOT NULL`,
  `CREATE INDEX requests_by_due
    ON requests(queue, entity, known, ready, urgency, due_at)`,
  `CREATE INDEX requests_to_draw ON requests(queue, entity, urgency, seq)
    WHERE known = 0 AND ready = 1`,
];

/** What waits to be asked for: named by webhooks, or open and lately final. */
export type QueueName = "named" | "open";

/** The number of each queue. */
export const QUEUES = { named: 0, open: 1 } as const;

/**
 * How urgent a read is: a status that was claimed for the first time, and that
 * the service has not shown, comes before all others, a final one first.
 */
export type Urgency = 0 | 1 | 2;

/** Every urgency, the most urgent first. */
export const URGENCIES: readonly Urgency[] = [2, 1, 0];

/** An order or user that waits to be asked for. */
export interface Waiting {
  /** Its place: the older, the smaller. */
  readonly seq: number;
  /** Which kind. */
  readonly entity: Entity;
  /** Which one. */
  readonly entityId: string;
  /** When the last webhook named it, in milliseconds since the epoch. */
  readonly wantedAtMs: number;
  /** Since when it may be asked for, in milliseconds since the epoch. */
  readonly dueAtMs: number;
  /** How urgent that is. */
  readonly urgency: Urgency;
  /** Position of the webhook that made it urgent; 0 where none did. */
  readonly claimedBy: number;
  /** Whether it has to be asked for without others. */
  readonly alone: boolean;
}

/** Longer than any pause: a later time was stored by a clock gone wrong. */
const neverPausedMs = 3 * 24 * 3_600_000;

/** Places from which unknown ids are drawn: twice what fits a request. */
const draws = 40;

/** Rows made ready to be drawn at once. */
const readyAtOnce = 2000;

const WAITING = new Columns<Waiting>({
  seq: ["seq", plain()],
  entity: ["entity", plain()],
  entityId: ["entity_id", plain()],
  wantedAtMs: ["wanted_at", plain()],
  dueAtMs: ["due_at", plain()],
  urgency: ["urgency", plain()],
  claimedBy: ["claimed_by", plain()],
  alone: ["alone", flag],
});

/** The columns of a place that is called `q`. */
const columns = WAITING.list("q", {
  entityId: entityIdSql("q"),
  alone: `EXISTS (SELECT 1 FROM isolated_ids AS a
    WHERE a.entity = q.entity AND a.entity_id = ${entityIdSql("q")})`,
});

/**
 * Selects known ids that are due: the most urgent first, and among these those
 * that are due longest.
 *
 * @param queue Which queue.
 * @param entity Orders or users.
 * @param nowMs The time, in milliseconds since the epoch.
 * @param limit How many of each urgency at most.
 */
export function selectKnown(
  queue: QueueName,
  entity: Entity,
  nowMs: number,
  limit: number,
): Statement {
  const parts = URGENCIES.map((urgency) =>
    `SELECT * FROM (SELECT ${columns} FROM requests AS q
      WHERE q.queue = ${QUEUES[queue]} AND q.entity = ?1 AND q.known = 1
        AND q.ready = 1 AND q.urgency = ${urgency} AND q.due_at <= ?2
      ORDER BY q.due_at LIMIT ?3)`
  );
  return { sql: parts.join("\nUNION ALL "), args: [entity, nowMs, limit] };
}

/**
 * Draws unknown ids that are ready, at equal steps from a random offset. Each id
 * of an urgency has the same chance, however many came together; the most urgent
 * come first.
 *
 * @param queue Which queue.
 * @param entity Orders or users.
 * @param offset Where to begin, as a share of all ids: at least 0, and below 1.
 * @param limit How many of each urgency at most.
 */
export function drawUnknown(
  queue: QueueName,
  entity: Entity,
  offset: number,
  limit: number,
): Statement {
  const places = Array.from(
    { length: draws },
    (_, draw) => (offset + draw / draws) % 1,
  );
  const parts = URGENCIES.map((urgency) => {
    const ready = `FROM requests
      WHERE queue = ${QUEUES[queue]} AND entity = ?1 AND urgency = ${urgency}
        AND known = 0 AND ready = 1`;
    return `SELECT * FROM (SELECT DISTINCT ${columns}
      FROM (SELECT min(seq) AS low ${ready}) AS l,
        (SELECT max(seq) AS high ${ready}) AS h,
        json_each(?2) AS p
      JOIN requests AS q ON q.seq = (SELECT seq ${ready}
        AND seq >= l.low + CAST(p.value * (h.high - l.low + 1) AS INTEGER)
        ORDER BY seq LIMIT 1)
      LIMIT ?3)`;
  });
  return {
    sql: parts.join("\nUNION ALL "),
    args: [entity, JSON.stringify(places), limit],
  };
}

/** Ids that have rested long enough to be made ready. */
function rested(queue: QueueName): string {
  return `queue = ${QUEUES[queue]} AND entity IN ('order', 'user')
    AND known = 0 AND ready = 0 AND urgency = 0 AND due_at <= ?1`;
}

/** Ids that rest by a clock gone wrong; `?1` to `?3` as of {@linkcode timesOf}. */
function fromTheFuture(queue: QueueName): string {
  return `queue = ${QUEUES[queue]} AND entity IN ('order', 'user')
    AND known IN (0, 1) AND ready IN (0, 1) AND urgency IN (0, 1, 2)
    AND due_at > ?1 AND (wanted_at > ?2 OR due_at > ?3)`;
}

/**
 * Selects one row that says whether unknown ids have rested long enough to be
 * made ready, or a clock gone wrong has left times that have yet to come.
 *
 * @param queue Which queue.
 * @param nowMs The time, in milliseconds since the epoch.
 * @param looksAhead Whether to look for times that have yet to come: it goes
 * through all that rests.
 */
export function selectUpkeep(
  queue: QueueName,
  nowMs: number,
  looksAhead: boolean,
): Statement {
  return {
    sql: `SELECT EXISTS (SELECT 1 FROM requests WHERE ${rested(queue)})
      OR (?4 = 1 AND EXISTS
        (SELECT 1 FROM requests WHERE ${fromTheFuture(queue)}))`,
    args: [...timesOf(nowMs), looksAhead ? 1 : 0],
  };
}

/**
 * The statements that do the work found by {@linkcode selectUpkeep}. A stored
 * time in the future counts as never.
 *
 * @param queue Which queue.
 * @param nowMs The time, in milliseconds since the epoch.
 * @param looksAhead Whether there may be times that have yet to come.
 */
export function keepUp(
  queue: QueueName,
  nowMs: number,
  looksAhead: boolean,
): Statement[] {
  const ahead = {
    sql: `UPDATE requests SET wanted_at = min(wanted_at, ?1), due_at = ?1
      WHERE seq IN (SELECT seq FROM requests WHERE ${fromTheFuture(queue)})`,
    args: timesOf(nowMs),
  };
  return [...(looksAhead ? [ahead] : []), {
    sql: `UPDATE requests SET ready = 1 WHERE seq IN (
      SELECT seq FROM requests WHERE ${rested(queue)} LIMIT ?2)`,
    args: [nowMs, readyAtOnce],
  }];
}

/** Now, the latest time that is plausible, and the latest end of a pause. */
function timesOf(nowMs: number): number[] {
  const wholeMs = Math.floor(nowMs);
  const soonMs = wholeMs + CLOCK_TOLERANCE_MS;
  return [wholeMs, soonMs, soonMs + neverPausedMs];
}

/**
 * The statement that marks ids as known after the service has shown them.
 *
 * @param entity Orders or users.
 * @param ids Which ones.
 */
export function markKnown(entity: Entity, ids: readonly string[]): Statement {
  return {
    sql: `UPDATE requests SET known = 1, ready = 1
      WHERE +known = 0 AND seq IN (${placesOfIds(entity, "queue IN (0, 1)")})`,
    args: [JSON.stringify(ids)],
  };
}

/** An id, until when it rests, and by which webhook it was urgent when read. */
export type Rest = readonly [id: string, untilMs: number, claimedBy?: number];

/**
 * The statement that lets ids rest until a time. What a webhook has made urgent
 * after `claimedBy` rests not; left out, all do.
 *
 * @param queue Which queue.
 * @param entity Orders or users.
 * @param rests Which ones, and until when.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function restUntil(
  queue: QueueName,
  entity: Entity,
  rests: readonly Rest[],
  nowMs: number,
): Statement {
  // In the queue of webhooks, the time of the last webhook does not change.
  const wantedAt = queue === "open" ? "?2" : "wanted_at";
  return {
    sql: `UPDATE requests SET ready = known, wanted_at = ${wantedAt},
        urgency = 0, claimed_by = 0,
        due_at = (SELECT value ->> 1 FROM json_each(?1)
          WHERE value ->> 0 = ${entityIdSql("requests")})
      WHERE ?2 IS NOT NULL AND seq IN (SELECT seq FROM (${
      placesOfIds(entity, `queue = ${QUEUES[queue]}`, {
        id: "w.value ->> 0",
        columns: "q.seq AS seq, q.claimed_by AS until, w.value ->> 2 AS by",
      })
    }) WHERE until <= coalesce(by, until))`,
    args: [
      JSON.stringify(rests.map(([id, untilMs, ...by]) => [
        id,
        Math.ceil(untilMs),
        ...by,
      ])),
      Math.floor(nowMs),
    ],
  };
}

/** Reads what {@linkcode selectKnown} and {@linkcode drawUnknown} found. */
export function waitingOf(found: ResultSet | undefined): Waiting[] {
  return (found?.rows ?? []).map((row) => WAITING.read(row));
}

/**
 * The statements that make the queue of open orders anew after the states of
 * another generation have become the live ones.
 *
 * @param generation That generation.
 */
export function requeueOpenOrders(generation: number): Statement[] {
  return [{
    sql: `DELETE FROM requests WHERE queue = ${QUEUES.open}
      AND final_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM orders AS o WHERE o.generation = ?
          AND o.order_id = ${entityIdSql("requests")} AND o.open = 1)`,
    args: [generation],
  }, {
    // An order that was not in the queue is due at once, the oldest first.
    sql: `INSERT INTO requests
        (queue, entity, place, known, ready, wanted_at, due_at)
      SELECT ${QUEUES.open}, 'order', ${firstEventOf("order", "o.order_id")},
        b.found IS 1, b.found IS 1, o.sort_at, o.sort_at
      FROM orders AS o LEFT JOIN observations AS b
        ON b.entity = 'order' AND b.entity_id = o.order_id
      WHERE o.generation = ? AND o.open = 1
      ON CONFLICT (place, entity, queue) DO UPDATE SET final_at = NULL`,
    args: [generation],
  }];
}

/**
 * Selects what is known of orders that are in the queue.
 *
 * @param ids Which ones.
 * @param foldVersion Version of the folds that can be read.
 * @returns Its rows are id, fold and `final_at`.
 */
export function selectOpenOrders(
  ids: readonly string[],
  foldVersion: number,
): Statement {
  return {
    // Few ids, many orders: CROSS JOIN fixes the order of the joins.
    sql: `SELECT w.value, ${orderFoldSql("o")}, w.final_at FROM (${
      placesOfIds("order", `queue = ${QUEUES.open}`, {
        columns: "w.value, q.final_at",
      })
    }) AS w
      CROSS JOIN projections AS p ON p.name = 'live' AND p.fold_version = ?2
      CROSS JOIN orders AS o
        ON o.generation = p.generation AND o.order_id = w.value`,
    args: [JSON.stringify(ids), foldVersion],
  };
}

/**
 * Selects orders that are not final, by their place in the queue, due or not,
 * without those that the service refuses. Its rows are place and id.
 *
 * @param after The place before the first; 0 for the beginning.
 * @param limit How many at most.
 */
export function selectQueuedOrders(after: number, limit: number): Statement {
  return {
    sql: `SELECT q.seq, ${entityIdSql("q")} FROM requests AS q
      WHERE q.seq > ? AND q.queue = ${QUEUES.open} AND q.final_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM isolated_ids AS a
        WHERE a.entity = 'order' AND a.entity_id = ${entityIdSql("q")})
      ORDER BY q.seq LIMIT ?`,
    args: [after, limit],
  };
}

/**
 * Counts what webhooks named: rows of `known`, kind, whether it is urgent,
 * number, and oldest time due.
 */
export const countNamed: Statement = {
  sql: `SELECT known, entity, urgency > 0, count(*), min(due_at) FROM requests
    WHERE queue = ${QUEUES.named} GROUP BY 1, 2, 3`,
  args: [],
};

/** Counts orders never shown, and final ones, in the queue of open orders. */
export const countOpenQueue: Statement = {
  sql: `SELECT coalesce(sum(known = 0), 0),
    coalesce(sum(final_at IS NOT NULL), 0) FROM requests
    WHERE queue = ${QUEUES.open}`,
  args: [],
};
