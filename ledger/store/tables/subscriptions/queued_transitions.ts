import {
  parseTransitionKey,
  type Transition,
} from "../../../projection/transition.ts";
import type { Driver, ResultSet, Statement } from "../../driver/driver.ts";
import { storedMoves, transitionOf } from "../transitions.ts";

/** What subscriptions could not deliver yet. */
export const queuedTransitionsSchema: readonly string[] = [
  `CREATE TABLE queued_transitions (
    subscription TEXT NOT NULL,
    seq INTEGER NOT NULL,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    position INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (subscription, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX queued_transitions_by_entity ON queued_transitions(subscription, entity, entity_id)`,
];

/** They name what their transition names; see `transitions`. */
export const machineQueuedTransitions: readonly string[] = [
  "ALTER TABLE queued_transitions ADD COLUMN machine TEXT NOT NULL DEFAULT ''",
  "ALTER TABLE queued_transitions ADD COLUMN entry INTEGER NOT NULL DEFAULT 1",
  "ALTER TABLE queued_transitions ADD COLUMN previous TEXT",
  "ALTER TABLE queued_transitions ADD COLUMN reverses TEXT NOT NULL DEFAULT '[]'",
  "UPDATE queued_transitions SET machine = entity",
];

/**
 * A transition that a subscription could not deliver yet.
 *
 * - `retrying`: the handler failed, and is called again at `dueAt`.
 * - `waiting`: an earlier transition of the same entity comes first.
 * - `dead`: the handler failed too often; somebody has to decide.
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
  /** What the handler last failed with. */
  readonly error: string | null;
}

/** Columns in the order that {@linkcode queuedTransitionOf} reads. */
const columns =
  "l.seq, l.entity, l.entity_id, l.machine, l.trust, l.status, l.entry, " +
  "l.previous, l.reverses, l.position, l.recorded_at, 1, " +
  "l.state, l.attempts, l.due_at, l.error";

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
    state: row[12] as QueuedTransition["state"],
    attempts: row[13] as number,
    dueAt: row[14] as string,
    error: row[15] as string | null,
  };
}

/**
 * Reads the queued transitions that may be delivered now: of each entity only
 * the first, unless that one is dead or not due yet.
 *
 * @param subscription Name of the subscription.
 * @param now The time, UTC ISO 8601.
 */
export async function readDueTransitions(
  driver: Driver,
  subscription: string,
  now: string,
): Promise<QueuedTransition[]> {
  const [rows] = await driver.batch([{
    sql: `SELECT ${columns} FROM queued_transitions AS l
      WHERE l.subscription = ?1 AND l.state <> 'dead' AND l.due_at <= ?2
        AND NOT EXISTS (SELECT 1 FROM queued_transitions AS e
          WHERE e.subscription = ?1 AND e.entity = l.entity
            AND e.entity_id = l.entity_id AND e.seq < l.seq)
      ORDER BY l.seq LIMIT 100`,
    args: [subscription, now],
  }], "read");
  return rows?.rows.map(queuedTransitionOf) ?? [];
}

/**
 * The statement that queues a transition.
 *
 * @param subscription Name of the subscription.
 * @param queued The transition and where it stands.
 */
export function insertQueuedTransition(
  subscription: string,
  queued: QueuedTransition,
): Statement {
  const { transition, state, attempts, dueAt, error } = queued;
  return {
    sql: `INSERT INTO queued_transitions (subscription, seq, entity, entity_id,
        machine, trust, status, entry, previous, reverses, position,
        recorded_at, state, attempts, due_at, error)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    args: [
      subscription,
      transition.seq,
      transition.entity,
      transition.id,
      transition.machine,
      transition.trust,
      transition.status,
      transition.entry,
      ...storedMoves(transition),
      transition.position,
      transition.recordedAt,
      state,
      attempts,
      dueAt,
      error,
    ],
  };
}

/**
 * The statement that writes how another attempt went, unless somebody else
 * has settled the transition since it was read.
 *
 * @param subscription Name of the subscription.
 * @param before The queued transition as read.
 * @param after Where it stands now.
 */
export function updateQueuedTransition(
  subscription: string,
  before: QueuedTransition,
  after: Pick<QueuedTransition, "state" | "attempts" | "dueAt" | "error">,
): Statement {
  return {
    sql:
      `UPDATE queued_transitions SET state = ?, attempts = ?, due_at = ?, error = ?
      WHERE subscription = ? AND seq = ? AND attempts = ?`,
    args: [
      after.state,
      after.attempts,
      after.dueAt,
      after.error,
      subscription,
      before.transition.seq,
      before.attempts,
    ],
  };
}

/**
 * The statement that removes a transition that was delivered.
 *
 * @param subscription Name of the subscription.
 * @param seq Place of its transition.
 */
export function deleteQueuedTransition(
  subscription: string,
  seq: number,
): Statement {
  return {
    sql: "DELETE FROM queued_transitions WHERE subscription = ? AND seq = ?",
    args: [subscription, seq],
  };
}

/** Selects what a subscription could not deliver yet, in order. */
export function selectQueued(subscription: string): Statement {
  return {
    sql: `SELECT ${columns} FROM queued_transitions AS l
      WHERE l.subscription = ? ORDER BY l.seq`,
    args: [subscription],
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
