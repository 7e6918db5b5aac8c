import type { Statement } from "../driver/driver.ts";
import { Columns, plain } from "./columns.ts";
import { timeMs } from "./stored_times.ts";
import {
  excludedTexts,
  type PackedRow,
  PackedRows,
  STATE_TEXTS,
} from "./packed_rows.ts";

/** One row a user and generation, as in `orders`. */
export const usersSchema: readonly string[] = [
  `CREATE TABLE users (
    generation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    sort_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, user_id)
  ) STRICT`,
  `CREATE INDEX users_by_time ON users(generation, sort_at, place)`,
  `CREATE INDEX users_by_status
    ON users(generation, status, sort_at, place)`,
];

/** What the short columns of a user say. */
export interface UserColumns {
  /** Position of the first event that names the user. */
  readonly place: number;
  readonly userId: string;
  readonly status: string;
  readonly trust: string;
  /** What users are sorted by, UTC ISO 8601 with milliseconds. */
  readonly sortAt: string;
}

/** The short columns of a user. */
export const USERS: Columns<UserColumns> = new Columns({
  place: ["place", plain()],
  userId: ["user_id", plain()],
  status: ["status", plain()],
  trust: ["trust", plain()],
  sortAt: ["sort_at", timeMs],
});

/**
 * SQL for the state and for the fold of a user, each as one whole text: what is
 * stored of them leaves out the id, by which both begin.
 *
 * @param alias What the statement calls the table.
 */
export function userTextsSql(
  alias: string = "users",
): { readonly state: string; readonly fold: string } {
  const id = `json_quote(${alias}.user_id)`;
  return {
    state: `'{"userId":' || ${id} || ',' || substr(${alias}.state, 2)`,
    fold: `'[' || ${id} || ',' || substr(${alias}.fold, 2)`,
  };
}

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
    sql: `SELECT user_id, ${userTextsSql().fold} FROM users
      WHERE generation = ?1 AND user_id IN (SELECT value FROM json_each(?2))`,
    args: [generation, JSON.stringify(ids)],
  };
}

/**
 * Stores users in place of what was known of them.
 *
 * @param generation Which set of states.
 * @param rows The {@linkcode USERS} of each, then state, activity and fold.
 */
export function upsertUsers(
  generation: number,
  rows: readonly PackedRow[],
): Statement {
  return { sql: upsert, args: [...packed.pack(rows), generation] };
}

const packed = new PackedRows(USERS.count, STATE_TEXTS.length, [
  USERS.at.status,
  USERS.at.trust,
]);

const upsert = `INSERT INTO users (generation, ${USERS.list()},
    ${STATE_TEXTS.join(", ")})
  SELECT ?3, ${[...packed.sql, ...packed.texts].join(", ")}
  FROM ${packed.from} WHERE true
  ON CONFLICT (generation, user_id) DO UPDATE SET
    ${USERS.excluded(["place", "userId"])}, ${excludedTexts}`;
