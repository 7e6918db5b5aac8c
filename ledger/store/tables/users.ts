import type { Statement } from "../driver/driver.ts";
import { type PackedRow, packedText, packRows } from "./packed_rows.ts";

/** One row a user and generation, as in `orders`. */
export const usersSchema: readonly string[] = [
  `CREATE TABLE users (
    generation INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    sort_at TEXT NOT NULL,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, user_id)
  ) STRICT`,
  `CREATE INDEX users_by_time ON users(generation, sort_at, user_id)`,
  `CREATE INDEX users_by_status ON users(generation, status, sort_at, user_id)`,
];

/**
 * Selects users whom a webhook claims to be further than they were read. The
 * status of a banned user is confirmed, whatever is claimed beside.
 */
export function selectUnsettledUsers(ids: readonly string[]): Statement {
  return {
    sql: `SELECT user_id FROM users
      WHERE instr(state, '"needsConfirm":true') > 0
      AND generation = (SELECT generation FROM projections
        WHERE name = 'live')
      AND user_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(ids)],
  };
}

/**
 * Selects what was folded of users: rows of id and fold.
 *
 * @param generation Which set of states.
 * @param ids Which users.
 */
export function selectUserFolds(
  generation: number,
  ids: readonly string[],
): Statement {
  return {
    sql: `SELECT user_id, fold FROM users
      WHERE generation = ?1 AND user_id IN (SELECT value FROM json_each(?2))`,
    args: [generation, JSON.stringify(ids)],
  };
}

/**
 * Stores users in place of what was known of them.
 *
 * @param generation Which set of states.
 * @param rows Columns from `user_id` to `sort_at`, then state, activity and fold.
 */
export function upsertUsers(
  generation: number,
  rows: readonly PackedRow[],
): Statement {
  return {
    sql: `INSERT INTO users (generation, user_id, status, trust, sort_at,
        state, activity, fold)
      SELECT ?3, r.value ->> 0, r.value ->> 1, r.value ->> 2, r.value ->> 3,
        ${packedText(4, 0)}, ${packedText(4, 1)}, ${packedText(4, 2)}
      FROM json_each(?2) AS r WHERE true
      ON CONFLICT (generation, user_id) DO UPDATE SET
        status = excluded.status, trust = excluded.trust,
        sort_at = excluded.sort_at, state = excluded.state,
        activity = excluded.activity, fold = excluded.fold`,
    args: [...packRows(rows), generation],
  };
}
