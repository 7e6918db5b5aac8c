import { Columns, flag, plain } from "../columns.ts";
import {
  type Entity,
  parseTransitionKey,
  type Transition,
  transitionName,
} from "../../../machines/transition.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";
import { takeReleases } from "./release_deliveries.ts";
import { storedParts, transitionOf, TRANSITIONS } from "../transitions.ts";

/**
 * Transitions that subscriptions could not deliver yet, with the columns of
 * `transitions`.
 *
 * `overtaken` is 1 where a later transition of the same entity was delivered. Only
 * rows in state `retrying` are looked up by time, so waiting rows cost nothing;
 * the batch that settles a row lets the next row of its entity retry.
 */
export const queuedTransitionsSchema: readonly string[] = [
  `CREATE TABLE queued_transitions (
    subscription TEXT NOT NULL,
    seq INTEGER NOT NULL,
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
    shown TEXT,
    reason TEXT,
    after TEXT,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at TEXT NOT NULL,
    error TEXT,
    overtaken INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (subscription, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX queued_transitions_by_entity
    ON queued_transitions(subscription, entity, entity_id)`,
  `CREATE INDEX queued_transitions_due
    ON queued_transitions(subscription, state, due_at)`,
];

/**
 * A transition that a subscription could not deliver yet.
 *
 * - `retrying`: the handler failed, or could not be called in its turn; it is
 *   called at `dueAt`.
 * - `waiting`: an earlier transition of the same entity comes first.
 * - `dead`: the handler failed permanently after all attempts; later ones of
 *   the entity go on without it, and a person has to decide.
 */
export interface QueuedTransition {
  /** The transition. */
  readonly transition: Transition;
  /** Where it stands. */
  readonly state: "retrying" | "waiting" | "dead";
  /** How often the handler was called. */
  readonly attempts: number;
  /** When it is called next, UTC ISO 8601; empty for at once. */
  readonly dueAt: string;
  /** Last error of the handler. */
  readonly error: string | null;
  /** Whether a later transition of its order or user was delivered. */
  readonly overtaken: boolean;
}

/** What the queue has of a transition beside the transition. */
const QUEUE = new Columns<Omit<QueuedTransition, "transition">>({
  state: ["state", plain()],
  attempts: ["attempts", plain()],
  dueAt: ["due_at", plain()],
  error: ["error", plain()],
  overtaken: ["overtaken", flag],
});

/** Columns of `l` that {@linkcode queuedTransitionOf} reads. */
export const queuedColumns: string = `${
  TRANSITIONS.list("l", { live: "1" })
}, ${QUEUE.list("l")}`;

/**
 * Reads a row of {@linkcode selectQueued}.
 *
 * @param row The row.
 */
export function queuedTransitionOf(
  row: ResultSet["rows"][number],
): QueuedTransition {
  return {
    transition: transitionOf(row),
    ...QUEUE.read(row, TRANSITIONS.count),
  };
}

/** How deliveries went that are to be written together. */
export interface SettledDeliveries {
  /** What was not in the queue and failed, or has to wait. */
  readonly queued: readonly QueuedTransition[];
  /** What was in the queue and failed again: as read, and as it stands now. */
  readonly failed: readonly {
    readonly before: QueuedTransition;
    readonly after: QueuedTransition;
  }[];
  /** What was in the queue and was delivered. */
  readonly delivered: readonly Transition[];
  /** What was delivered although earlier ones of its entity were not. */
  readonly passing: readonly Transition[];
  /** Orders whose `yes` the handler took. */
  readonly released: readonly string[];
}

/**
 * The statements that write how deliveries went. A row that somebody else has
 * settled since it was read stays as it is.
 *
 * @param subscription Name of the subscription.
 * @param settled How they went.
 */
export function settleQueue(
  subscription: string,
  { queued, failed, delivered, passing, released }: SettledDeliveries,
): Statement[] {
  const touched = new Map<string, readonly [Entity, string]>();
  const touch = ({ entity, id }: Transition) =>
    touched.set(`${entity}:${id}`, [entity, id]);
  for (const { transition } of queued) touch(transition);
  for (const { after } of failed) touch(after.transition);
  for (const transition of delivered) touch(transition);
  const statements: Statement[] = [
    { sql: insertQueued, rows: queued.map(rowOf) },
    {
      sql: `UPDATE queued_transitions AS l SET state = w.value ->> 2,
          attempts = w.value ->> 3, due_at = w.value ->> 4,
          error = w.value ->> 5
        FROM json_each(?2) AS w WHERE l.subscription = ?1
          AND l.seq = w.value ->> 0 AND l.attempts = w.value ->> 1`,
      rows: failed.map(({ before, after }) => [
        before.transition.seq,
        before.attempts,
        after.state,
        after.attempts,
        after.dueAt,
        after.error,
      ]),
    },
    {
      sql: `DELETE FROM queued_transitions WHERE subscription = ?1
        AND seq IN (SELECT value FROM json_each(?2))`,
      rows: delivered.map(({ seq }) => seq),
    },
    {
      sql: `UPDATE queued_transitions SET overtaken = 1
        WHERE subscription = ?1 AND +state <> 'waiting'
          AND seq IN (SELECT l.seq FROM json_each(?2) AS w
            CROSS JOIN queued_transitions AS l
              INDEXED BY queued_transitions_by_entity ON l.subscription = ?1
                AND l.entity = w.value ->> 0 AND l.entity_id = w.value ->> 1
                AND l.seq < w.value ->> 2)`,
      rows: passing.map(({ entity, id, seq }) => [entity, id, seq]),
    },
    {
      sql: letOthersWait,
      rows: queued.map(({ transition }) => [
        transition.entity,
        transition.id,
        transition.seq,
      ]),
    },
    { sql: letNextRetry, rows: [...touched.values()] },
  ].flatMap(({ sql, rows }) =>
    rows.length === 0
      ? []
      : [{ sql, args: [subscription, JSON.stringify(rows)] }]
  );
  if (released.length === 0) return statements;
  return [...statements, takeReleases(subscription, released)];
}

function rowOf(
  { transition, state, attempts, dueAt, error, overtaken }: QueuedTransition,
): readonly (string | number | null)[] {
  const name = transitionName(transition);
  const { previous, reverses, shown, reason, after } = storedParts(transition);
  return [
    transition.seq,
    name.entity,
    name.id,
    name.machine,
    name.trust,
    name.status,
    name.entry,
    previous,
    reverses,
    transition.position,
    transition.recordedAt,
    shown,
    reason,
    after,
    state,
    attempts,
    dueAt,
    error,
    overtaken ? 1 : 0,
  ];
}

const insertQueued = `INSERT INTO queued_transitions (subscription, seq, entity,
    entity_id, machine, trust, status, entry, previous, reverses, position,
    recorded_at, shown, reason, after, state, attempts, due_at, error,
    overtaken)
  SELECT ?1, ${
  Array.from({ length: 19 }, (_, at) => `w.value ->> ${at}`).join(", ")
}
  FROM json_each(?2) AS w WHERE true ON CONFLICT DO NOTHING`;

/** What a crash makes come again is queued before what came after it. */
const letOthersWait = `UPDATE queued_transitions SET state = 'waiting'
  WHERE subscription = ?1 AND +state = 'retrying' AND overtaken = 0
    AND seq IN (SELECT l.seq FROM json_each(?2) AS w
      CROSS JOIN queued_transitions AS l
        INDEXED BY queued_transitions_by_entity ON l.subscription = ?1
          AND l.entity = w.value ->> 0 AND l.entity_id = w.value ->> 1
          AND l.seq > w.value ->> 2)`;

/**
 * Of each entity the first that is neither dead nor overtaken. Left to itself,
 * SQLite looks for it from the beginning of the queue, and through all that waits.
 */
const letNextRetry = `UPDATE queued_transitions SET state = 'retrying'
  WHERE subscription = ?1 AND +state = 'waiting' AND seq IN (
    SELECT (SELECT min(f.seq) FROM queued_transitions AS f
        INDEXED BY queued_transitions_by_entity
      WHERE f.subscription = ?1 AND f.entity = w.value ->> 0
        AND f.entity_id = w.value ->> 1
        AND f.state <> 'dead' AND f.overtaken = 0)
    FROM json_each(?2) AS w)`;

/** Selects what a subscription could not deliver yet, in order. */
export function selectQueued(subscription: string, order?: string): Statement {
  return {
    sql: `SELECT ${queuedColumns} FROM queued_transitions AS l
      WHERE l.subscription = ? ${
      order === undefined ? "" : "AND l.entity = 'order' AND l.entity_id = ?"
    } ORDER BY l.seq`,
    args: [subscription, ...order === undefined ? [] : [order]],
  };
}

/**
 * Selects what a subscription has given up on, in order.
 *
 * @param limit At most this many; undefined for all.
 */
export function selectDead(
  subscription: string,
  limit: number | undefined,
): Statement {
  return {
    sql: `SELECT ${queuedColumns} FROM queued_transitions AS l
      WHERE l.subscription = ? AND l.state = 'dead' ORDER BY l.seq LIMIT ?`,
    args: [subscription, limit ?? -1],
  };
}

/**
 * Lets dead ones be delivered again, with as many attempts as at first.
 *
 * @param subscription Name of the subscription.
 * @param key Only this transition; undefined for all.
 */
export function retryDead(
  subscription: string,
  key: string | undefined,
): Statement {
  return ofDead(
    "UPDATE queued_transitions SET state = 'retrying', attempts = 0, due_at = ''",
    subscription,
    key,
  );
}

/** Lets what waits for its next attempt be delivered at once. */
export function hastenRetrying(subscription: string): Statement {
  return {
    sql: `UPDATE queued_transitions SET due_at = ''
      WHERE subscription = ? AND state = 'retrying' AND due_at <> ''`,
    args: [subscription],
  };
}

/**
 * Gives dead ones up.
 *
 * @param subscription Name of the subscription.
 * @param key Only this transition; undefined for all.
 */
export function deleteDead(
  subscription: string,
  key: string | undefined,
): Statement {
  return ofDead("DELETE FROM queued_transitions", subscription, key);
}

function ofDead(
  action: string,
  subscription: string,
  key: string | undefined,
): Statement {
  const names = key === undefined ? null : parseTransitionKey(key).map(
    ({ entity, machine, id, trust, status, entry }) => [
      entity,
      id,
      machine,
      trust,
      status,
      entry,
    ],
  );
  return {
    sql: `${action} WHERE subscription = ?1 AND state = 'dead' AND (?2 IS NULL
      OR EXISTS (SELECT 1 FROM json_each(?2) AS n
        WHERE entity = n.value ->> 0 AND entity_id = n.value ->> 1
          AND machine = n.value ->> 2 AND trust = n.value ->> 3
          AND status = n.value ->> 4 AND entry = n.value ->> 5))`,
    args: [subscription, names === null ? null : JSON.stringify(names)],
  };
}
