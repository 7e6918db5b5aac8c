import type { Transition } from "../../../projection/transition.ts";
import type { Driver, Statement } from "../../driver/driver.ts";
import { expectRow } from "../../driver/expect_row.ts";
import { transitionColumns, transitionOf } from "../transitions.ts";

/** How far each subscription is in the log of transitions. */
export const subscriptionsSchema: readonly string[] = [
  `CREATE TABLE subscriptions (
    name TEXT PRIMARY KEY,
    patterns TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/** Most transitions of one read. */
export const PAGE_ROWS = 100;

/** Transitions that a subscription has not looked at yet. */
export interface NextTransitions {
  /** The checkpoint that they come after. */
  readonly seq: number;
  /** The transitions, in order. */
  readonly transitions: readonly Transition[];
  /** Entities with an earlier transition in the queue, as `order:<id>`. */
  readonly blocked: Set<string>;
}

/**
 * Reads the transitions after a subscription's checkpoint.
 *
 * @param name Name of the subscription.
 * @param mode `write` reads from the primary.
 */
export async function readNextTransitions(
  driver: Driver,
  name: string,
  mode: "read" | "write",
): Promise<NextTransitions> {
  const selectNext = `SELECT ${transitionColumns} FROM transitions WHERE seq >
      (SELECT seq FROM subscriptions WHERE name = ?1)
      ORDER BY seq LIMIT ${PAGE_ROWS}`;
  const [checkpoint, rows, blocked] = await driver.batch([
    { sql: "SELECT seq FROM subscriptions WHERE name = ?", args: [name] },
    { sql: selectNext, args: [name] },
    {
      sql: `SELECT DISTINCT l.entity, l.entity_id FROM (${selectNext}) AS t
          JOIN queued_transitions AS l ON l.subscription = ?1 AND l.entity = t.entity
            AND l.entity_id = t.entity_id`,
      args: [name],
    },
  ], mode);
  return {
    seq: (checkpoint?.rows[0]?.[0] ?? 0) as number,
    transitions: rows?.rows.map(transitionOf) ?? [],
    blocked: new Set(blocked?.rows.map(([entity, id]) => `${entity}:${id}`)),
  };
}

/**
 * The statements that move a subscription's checkpoint. Their batch fails with
 * `conflict` when another process has moved it.
 *
 * @param name Name of the subscription.
 * @param from Where the checkpoint was read.
 * @param to Where it moves to.
 */
export function moveSubscription(
  name: string,
  from: number,
  to: number,
): Statement[] {
  return [
    expectRow("subscriptions", { name, seq: from }),
    {
      sql: "UPDATE subscriptions SET seq = ? WHERE name = ?",
      args: [to, name],
    },
  ];
}

/**
 * Creates a subscription, or changes what an existing one takes.
 *
 * @param name Its name.
 * @param how What it takes; whether a new one begins with what happens from
 * now on; and the time, UTC ISO 8601.
 */
export function upsertSubscription(
  name: string,
  how: {
    readonly patterns: readonly string[];
    readonly from: "start" | "now";
    readonly createdAt: string;
  },
): Statement {
  return {
    sql: `INSERT INTO subscriptions (name, patterns, seq, created_at)
      SELECT ?1, ?2, CASE WHEN ?3 = 'start' THEN 0
        ELSE coalesce((SELECT max(seq) FROM transitions), 0) END, ?4
      WHERE true ON CONFLICT (name) DO UPDATE SET patterns = excluded.patterns`,
    args: [name, JSON.stringify(how.patterns), how.from, how.createdAt],
  };
}

/**
 * Selects all subscriptions: name, patterns, time of creation, transitions
 * after the checkpoint, and deliveries that are retrying, waiting and dead.
 */
export const selectSubscriptions: Statement = {
  sql: `SELECT s.name, s.patterns, s.created_at,
      (SELECT count(*) FROM transitions AS t WHERE t.seq > s.seq),
      ${countQueued("retrying")}, ${countQueued("waiting")},
      ${countQueued("dead")}
    FROM subscriptions AS s ORDER BY s.name`,
  args: [],
};

function countQueued(state: string): string {
  return `(SELECT count(*) FROM queued_transitions AS l
    WHERE l.subscription = s.name AND l.state = '${state}')`;
}
