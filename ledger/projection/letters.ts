import type { Driver, ResultSet, Statement } from "../store/driver.ts";
import type { Entity, Transition } from "./transition.ts";
import { transitionKey } from "./transition.ts";

/**
 * A transition that a subscription could not deliver yet.
 *
 * - `retrying`: the handler failed, and is called again at `dueAt`.
 * - `waiting`: an earlier transition of the same entity comes first.
 * - `dead`: the handler failed too often; somebody has to decide.
 */
export interface Letter {
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

/** Columns in the order that {@linkcode letterOf} reads. */
export const letterColumns: string =
  "l.seq, l.entity, l.entity_id, l.trust, l.status, l.position, " +
  "l.recorded_at, l.state, l.attempts, l.due_at, l.error";

/**
 * Reads a row of `SELECT ${letterColumns} FROM letters AS l`.
 *
 * @param row The row.
 */
export function letterOf(row: ResultSet["rows"][number]): Letter {
  const named = {
    entity: row[1] as Entity,
    id: row[2] as string,
    trust: row[3] as string,
    status: row[4] as string,
  };
  return {
    transition: {
      key: transitionKey(named),
      ...named,
      position: row[5] as number,
      recordedAt: row[6] as string,
      seq: row[0] as number,
      live: true,
    },
    state: row[7] as Letter["state"],
    attempts: row[8] as number,
    dueAt: row[9] as string,
    error: row[10] as string | null,
  };
}

/**
 * Reads the letters that may be delivered now: of each entity only the first,
 * unless that one is dead or not due yet.
 *
 * @param driver The database.
 * @param subscription Name of the subscription.
 * @param now The time, UTC ISO 8601.
 */
export async function readDueLetters(
  driver: Driver,
  subscription: string,
  now: string,
): Promise<Letter[]> {
  const [rows] = await driver.batch([{
    sql: `SELECT ${letterColumns} FROM letters AS l
      WHERE l.subscription = ?1 AND l.state <> 'dead' AND l.due_at <= ?2
        AND NOT EXISTS (SELECT 1 FROM letters AS e
          WHERE e.subscription = ?1 AND e.entity = l.entity
            AND e.entity_id = l.entity_id AND e.seq < l.seq)
      ORDER BY l.seq LIMIT 100`,
    args: [subscription, now],
  }], "read");
  return rows?.rows.map(letterOf) ?? [];
}

/**
 * The statement that keeps a transition for later.
 *
 * @param subscription Name of the subscription.
 * @param letter What is kept.
 */
export function insertLetter(subscription: string, letter: Letter): Statement {
  const { transition, state, attempts, dueAt, error } = letter;
  return {
    sql: `INSERT INTO letters (subscription, seq, entity, entity_id, trust,
        status, position, recorded_at, state, attempts, due_at, error)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    args: [
      subscription,
      transition.seq,
      transition.entity,
      transition.id,
      transition.trust,
      transition.status,
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
 * has dealt with the letter since it was read.
 *
 * @param subscription Name of the subscription.
 * @param before The letter as read.
 * @param after The letter as it is now.
 */
export function updateLetter(
  subscription: string,
  before: Letter,
  after: Pick<Letter, "state" | "attempts" | "dueAt" | "error">,
): Statement {
  return {
    sql: `UPDATE letters SET state = ?, attempts = ?, due_at = ?, error = ?
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
 * The statement that takes a delivered letter out.
 *
 * @param subscription Name of the subscription.
 * @param seq Place of its transition.
 */
export function deleteLetter(subscription: string, seq: number): Statement {
  return {
    sql: "DELETE FROM letters WHERE subscription = ? AND seq = ?",
    args: [subscription, seq],
  };
}
