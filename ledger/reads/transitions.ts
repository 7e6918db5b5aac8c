/** The log of transitions, as handlers and the feed read it. */
import type { Entity, Transition } from "../machines/transition.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { shownOf, transitionOf, TRANSITIONS } from "../projection/log.ts";
import { read } from "../store/database.ts";
import { pageSize } from "./pages.ts";

/** Which transitions to read. */
export interface TransitionQuery {
  /** Only those of orders, or of users. */
  readonly entity?: Entity;
  /** Only those of one order or user. */
  readonly id?: string;
  /** Only those after this `seq`. @default 0 */
  readonly after?: number;
  /** At most this many, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/**
 * Reads transitions in the order they were logged.
 *
 * @throws {RangeError} When the limit is not from 1 to 1000.
 */
export async function readTransitions(
  driver: Driver,
  { entity, id, after = 0, limit }: TransitionQuery = {},
): Promise<Transition[]> {
  const where = ["t.seq > ?"];
  const args: SqlValue[] = [after];
  if (entity !== undefined) {
    where.push(`t.no % 2 = ${entity === "user" ? 1 : 0}`);
  }
  if (id !== undefined) {
    where.push(`t.no IN (SELECT no FROM orders WHERE id = ?
      UNION ALL SELECT no FROM users WHERE id = ?)`);
    args.push(id, id);
  }
  const [rows = []] = await read(driver, [{
    sql: `SELECT ${TRANSITIONS}
      WHERE ${where.join(" AND ")} ORDER BY t.seq LIMIT ?`,
    args: [...args, pageSize(limit)],
  }]);
  return rows.map((row) => shownOf(transitionOf(row)));
}

/** Reads the `seq` of the last transition; 0 before the first. */
export async function readLastSeq(driver: Driver): Promise<number> {
  const [rows] = await read(driver, [{
    sql: "SELECT max(seq) FROM log",
    args: [],
  }]);
  return Number(rows?.[0]?.[0] ?? 0);
}
