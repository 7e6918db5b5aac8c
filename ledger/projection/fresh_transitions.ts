import type { Driver, Statement } from "../store/driver.ts";
import type { Transition } from "./transition.ts";
import { transitionColumns, transitionOf } from "./transitions.ts";

/** Most transitions of one read. */
export const pageRows: number = 100;

/** What a subscription has not looked at yet. */
export interface FreshTransitions {
  /** The checkpoint that they follow. */
  readonly seq: number;
  /** The transitions, in order. */
  readonly transitions: readonly Transition[];
  /** Entities of theirs that letters block, as `order:<id>`. */
  readonly blocked: Set<string>;
}

/**
 * Reads the transitions after a subscription's checkpoint.
 *
 * @param driver The database.
 * @param name Name of the subscription.
 * @param mode `write` reads from the primary.
 */
export async function readFresh(
  driver: Driver,
  name: string,
  mode: "read" | "write",
): Promise<FreshTransitions> {
  const fresh = `SELECT ${transitionColumns} FROM transitions WHERE seq >
      (SELECT seq FROM subscriptions WHERE name = ?1)
      ORDER BY seq LIMIT ${pageRows}`;
  const [checkpoint, rows, blocked] = await driver.batch([
    { sql: "SELECT seq FROM subscriptions WHERE name = ?", args: [name] },
    { sql: fresh, args: [name] },
    {
      sql: `SELECT DISTINCT l.entity, l.entity_id FROM (${fresh}) AS t
          JOIN letters AS l ON l.subscription = ?1 AND l.entity = t.entity
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
 * The statement that moves a subscription's checkpoint. It undoes its batch
 * when another process has moved it.
 *
 * @param name Name of the subscription.
 * @param from Where the checkpoint was read.
 * @param to Where it moves to.
 */
export function moveSubscription(
  name: string,
  from: number,
  to: number,
): Statement {
  return {
    sql: `INSERT INTO subscriptions (name, patterns, seq, created_at)
      VALUES (?1, '', (SELECT ?3 FROM subscriptions
        WHERE name = ?1 AND seq = ?2), '')
      ON CONFLICT (name) DO UPDATE SET seq = excluded.seq`,
    args: [name, from, to],
  };
}
