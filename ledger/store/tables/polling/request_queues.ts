import { Columns, flag, plain } from "../columns.ts";
import type { Entity } from "../../../machines/transition.ts";
import { CLOCK_TOLERANCE_MS } from "../../../../core/time/plausible_time.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";

/**
 * What the poller is to ask for.
 *
 * - `confirm_queue`: entities that a fresh webhook named.
 * - `open_queue`: orders that are asked about again and again. `final_at` is
 *   set for orders that are final and are read again a few times.
 *
 * Whether the service ever showed one is `known`. Known ones are asked for by
 * `due_at`, the others are drawn by chance among those that are `ready`.
 * `wanted_at` is when the last webhook came, or when the place in the queue was
 * given.
 */
export const requestQueuesSchema: readonly string[] = [
  ...queueTable("confirm_queue"),
  ...queueTable("open_queue"),
];

function queueTable(name: string): readonly string[] {
  return [
    `CREATE TABLE ${name} (
      seq INTEGER PRIMARY KEY,
      entity TEXT NOT NULL,
      entity_id TEXT NOT NULL,
      known INTEGER NOT NULL,
      ready INTEGER NOT NULL,
      wanted_at TEXT NOT NULL,
      due_at TEXT NOT NULL,
      final_at TEXT,
      UNIQUE (entity, entity_id)
    ) STRICT`,
    `CREATE INDEX ${name}_by_due ON ${name}(entity, known, ready, due_at)`,
    `CREATE INDEX ${name}_to_draw ON ${name}(entity, seq)
      WHERE known = 0 AND ready = 1`,
    `CREATE INDEX ${name}_by_want ON ${name}(entity, known, wanted_at)`,
  ];
}

/** What waits to be asked for: named by webhooks, or open and lately final. */
export type QueueName = "confirm_queue" | "open_queue";

/** An order or user that waits to be asked for. */
export interface Waiting {
  /** Its place: the older, the smaller. */
  readonly seq: number;
  /** Which kind. */
  readonly entity: Entity;
  /** Which one. */
  readonly entityId: string;
  /** When the last webhook named it, UTC ISO 8601. */
  readonly wantedAt: string;
  /** Since when it may be asked for, UTC ISO 8601. */
  readonly dueAt: string;
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
  wantedAt: ["wanted_at", plain()],
  dueAt: ["due_at", plain()],
  alone: ["alone", flag],
});

/** The columns of a queue that is called `q`. */
const columns = WAITING.list("q", {
  alone: `EXISTS (SELECT 1 FROM isolated_ids AS a
    WHERE a.entity = q.entity AND a.entity_id = q.entity_id)`,
});

/**
 * Selects known ids that are due, those first that are due longest.
 *
 * @param queue Which queue.
 * @param entity Orders or users.
 * @param now The time, UTC ISO 8601.
 * @param limit How many at most.
 */
export function selectKnown(
  queue: QueueName,
  entity: Entity,
  now: string,
  limit: number,
): Statement {
  return {
    sql: `SELECT ${columns} FROM ${queue} AS q
      WHERE q.entity = ? AND q.known = 1 AND q.ready = 1 AND q.due_at <= ?
      ORDER BY q.due_at LIMIT ?`,
    args: [entity, now, limit],
  };
}

/**
 * Draws unknown ids that are ready, at equal steps from a random offset. Each id
 * has the same chance, however many came together.
 *
 * @param queue Which queue.
 * @param entity Orders or users.
 * @param offset Where to begin, as a share of all ids: at least 0, and below 1.
 * @param limit How many at most.
 */
export function drawUnknown(
  queue: QueueName,
  entity: Entity,
  offset: number,
  limit: number,
): Statement {
  const ready = `FROM ${queue}
    WHERE entity = ?1 AND known = 0 AND ready = 1`;
  const places = Array.from(
    { length: draws },
    (_, draw) => (offset + draw / draws) % 1,
  );
  return {
    sql: `SELECT DISTINCT ${columns}
      FROM (SELECT min(seq) AS low ${ready}) AS l,
        (SELECT max(seq) AS high ${ready}) AS h,
        json_each(?2) AS p
      JOIN ${queue} AS q ON q.seq = (SELECT seq ${ready}
        AND seq >= l.low + CAST(p.value * (h.high - l.low + 1) AS INTEGER)
        ORDER BY seq LIMIT 1)
      LIMIT ?3`,
    args: [entity, JSON.stringify(places), limit],
  };
}

/** Times that a clock gone wrong has left; `?2` and `?3` as of {@linkcode timesOf}. */
const fromTheFuture = `entity IN ('order', 'user') AND known IN (0, 1)
      AND wanted_at > ?2
    OR entity IN ('order', 'user') AND known IN (0, 1) AND ready IN (0, 1)
      AND due_at > ?3`;

/**
 * Selects one row where unknown ids have rested long enough to be made ready,
 * or where a clock gone wrong has left times that have yet to come.
 *
 * @param queue Which queue.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function selectUpkeep(queue: QueueName, nowMs: number): Statement {
  const [now, soon, never] = timesOf(nowMs);
  return {
    sql: `SELECT EXISTS (SELECT 1 FROM ${queue}
        WHERE entity IN ('order', 'user') AND known = 0 AND ready = 0
          AND due_at <= ?1)
      OR EXISTS (SELECT 1 FROM ${queue} WHERE ${fromTheFuture})`,
    args: [now, soon, never],
  };
}

/**
 * The statements that do the work found by {@linkcode selectUpkeep}. A stored
 * time in the future counts as never.
 *
 * @param queue Which queue.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function keepUp(queue: QueueName, nowMs: number): Statement[] {
  const [now, soon, never] = timesOf(nowMs);
  return [{
    sql: `UPDATE ${queue} SET wanted_at = min(wanted_at, ?1), due_at = ?1
      WHERE seq IN (SELECT seq FROM ${queue}
        WHERE ${fromTheFuture})`,
    args: [now, soon, never],
  }, {
    sql: `UPDATE ${queue} SET ready = 1 WHERE seq IN (
      SELECT seq FROM ${queue} WHERE entity IN ('order', 'user')
        AND known = 0 AND ready = 0 AND due_at <= ? LIMIT ?)`,
    args: [now, readyAtOnce],
  }];
}

/** Now, the latest time that is plausible, and the latest end of a pause. */
function timesOf(nowMs: number): [string, string, string] {
  return [
    new Date(nowMs).toISOString(),
    new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
    new Date(nowMs + neverPausedMs + CLOCK_TOLERANCE_MS).toISOString(),
  ];
}

/**
 * The statement that marks ids as known after the service has shown them.
 *
 * @param queue Which queue.
 * @param entity Orders or users.
 * @param ids Which ones.
 */
export function markKnown(
  queue: QueueName,
  entity: Entity,
  ids: readonly string[],
): Statement {
  return {
    sql: `UPDATE ${queue} SET known = 1, ready = 1
      WHERE entity = ? AND entity_id IN (SELECT value FROM json_each(?))
        AND +known = 0`,
    args: [entity, JSON.stringify(ids)],
  };
}

/**
 * The statement that lets ids rest until a time.
 *
 * @param queue Which queue.
 * @param entity Orders or users.
 * @param rests Which ones, and until when, UTC ISO 8601.
 * @param now The time, UTC ISO 8601.
 */
export function restUntil(
  queue: QueueName,
  entity: Entity,
  rests: readonly (readonly [id: string, dueAt: string])[],
  now: string,
): Statement {
  // In the queue of webhooks, the time of the last webhook does not change.
  const wantedAt = queue === "open_queue" ? "?3" : "wanted_at";
  return {
    sql: `UPDATE ${queue} SET ready = known, wanted_at = ${wantedAt},
        due_at = (SELECT value ->> 1 FROM json_each(?2)
          WHERE value ->> 0 = entity_id)
      WHERE ?3 IS NOT NULL AND seq IN (SELECT q.seq
        FROM json_each(?2) AS w CROSS JOIN ${queue} AS q
        ON q.entity = ?1 AND q.entity_id = w.value ->> 0)`,
    args: [entity, JSON.stringify(rests), now],
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
    sql: `DELETE FROM open_queue WHERE final_at IS NULL AND NOT EXISTS (
      SELECT 1 FROM orders AS o WHERE o.generation = ?
        AND o.order_id = open_queue.entity_id AND o.open = 1)`,
    args: [generation],
  }, {
    // An order that was not in the queue is due at once, the oldest first.
    sql: `INSERT INTO open_queue
        (entity, entity_id, known, ready, wanted_at, due_at)
      SELECT 'order', o.order_id, b.found IS 1, b.found IS 1,
        o.sort_at, o.sort_at
      FROM orders AS o LEFT JOIN observations AS b
        ON b.entity = 'order' AND b.entity_id = o.order_id
      WHERE o.generation = ? AND o.open = 1
      ON CONFLICT (entity, entity_id) DO UPDATE SET final_at = NULL`,
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
    sql: `SELECT q.entity_id, o.fold, q.final_at FROM json_each(?2) AS w
      CROSS JOIN open_queue AS q
        ON q.entity = 'order' AND q.entity_id = w.value
      CROSS JOIN projections AS p ON p.name = 'live' AND p.fold_version = ?1
      CROSS JOIN orders AS o
        ON o.generation = p.generation AND o.order_id = q.entity_id`,
    args: [foldVersion, JSON.stringify(ids)],
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
    sql: `SELECT q.seq, q.entity_id FROM open_queue AS q
      WHERE q.seq > ? AND q.final_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM isolated_ids AS a
        WHERE a.entity = 'order' AND a.entity_id = q.entity_id)
      ORDER BY q.seq LIMIT ?`,
    args: [after, limit],
  };
}

/** Counts what webhooks named: rows of `known`, number, and oldest time due. */
export const countConfirms: Statement = {
  sql: `SELECT known, count(*), min(due_at) FROM confirm_queue
    GROUP BY known`,
  args: [],
};

/** Counts orders never shown, and final ones, in the queue of open orders. */
export const countOpenQueue: Statement = {
  sql: `SELECT coalesce(sum(known = 0), 0),
    coalesce(sum(final_at IS NOT NULL), 0) FROM open_queue`,
  args: [],
};
