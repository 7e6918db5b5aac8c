import type { Statement } from "../driver/driver.ts";

/**
 * The statement that stamps the time from which on a ledger tells what is new,
 * and how far it was folded then. A ledger that has one keeps it.
 *
 * @param at The time, UTC ISO 8601.
 */
export function stampGoLive(at: string): Statement {
  return {
    sql: `UPDATE rampkit SET go_live = ?, go_live_position = coalesce(
        (SELECT position FROM projections WHERE name = 'live'), 0)
      WHERE go_live IS NULL`,
    args: [at],
  };
}

/**
 * Selects that time, null while there is none; when the ledger was made; and how
 * far it was folded when it went live.
 */
export const selectGoLive: Statement = {
  sql: "SELECT go_live, created_at, go_live_position FROM rampkit",
  args: [],
};

/**
 * The statement that gives a scratch database the times of a ledger.
 *
 * @param createdAt When the ledger was made.
 * @param goLive When it went live; null before it does.
 */
export function copyTimes(createdAt: string, goLive: string | null): Statement {
  return {
    sql: "UPDATE rampkit SET created_at = ?, go_live = ?",
    args: [createdAt, goLive],
  };
}

/**
 * Orders whose first reading showed what had ended before the ledger went live,
 * and of which nothing new was told since. `listed` is 1 of an order that a person may want to look at:
 * a success of the last fourteen days that nothing was recorded for.
 */
export const historicSchema: readonly string[] = [
  `CREATE TABLE historic_orders (
    order_id TEXT PRIMARY KEY,
    listed INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX historic_orders_listed ON historic_orders(order_id)
    WHERE listed = 1`,
];

/**
 * Stores historic orders.
 *
 * @param orders Orders, and whether each is listed.
 */
export function insertHistoric(
  orders: ReadonlyMap<string, boolean>,
): Statement {
  return {
    sql: `INSERT INTO historic_orders (order_id, listed)
      SELECT value ->> 0, value ->> 1 FROM json_each(?)
      WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify([...orders].map(([id, is]) => [id, is ? 1 : 0]))],
  };
}

/** The statement by which orders are historic no more: something new happened. */
export function deleteHistoric(orderIds: readonly string[]): Statement {
  return {
    sql: `DELETE FROM historic_orders
      WHERE order_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(orderIds)],
  };
}

/**
 * Selects how many orders are historic, how many of them are listed, and of how
 * many users nobody was told what had happened before.
 */
export const countHistoric: Statement = {
  sql: `SELECT count(*), coalesce(sum(listed), 0),
      (SELECT count(DISTINCT entity_id)
        FROM transitions INDEXED BY transitions_historic_users
        WHERE historic = 1 AND entity = 'user')
    FROM historic_orders`,
  args: [],
};
