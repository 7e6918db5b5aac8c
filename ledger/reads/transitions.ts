/** The log of transitions, as handlers and the feed read it. */
import type { Entity, Transition } from "../machines/transition.ts";
import type { Driver } from "../store/driver/driver.ts";
import { shownOf, transitionOf, TRANSITIONS } from "../projection/log.ts";
import { select, selectValue } from "../store/database.ts";
import { allOf, asked, pageSize, where } from "./pages.ts";

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

export async function readTransitions(
  driver: Driver,
  { entity, id, after = 0, limit }: TransitionQuery = {},
): Promise<Transition[]> {
  const { sql, args } = allOf([
    where("t.seq > ?", after),
    ...asked(entity, (one) => where("t.no % 2 = ?", one === "user" ? 1 : 0)),
    ...asked(id, (one) =>
      where(
        `t.no IN (SELECT no FROM orders WHERE id = ?
          UNION ALL SELECT no FROM users WHERE id = ?)`,
        ...[one, one],
      )),
  ]);
  const rows = await select(
    driver,
    `SELECT ${TRANSITIONS} WHERE ${sql} ORDER BY t.seq LIMIT ?`,
    ...[...args, pageSize(limit)],
  );
  return rows.map((row) => shownOf(transitionOf(row)));
}

/** Reads the `seq` of the last transition; 0 before the first. */
export async function readLastSeq(driver: Driver): Promise<number> {
  return Number(await selectValue(driver, "SELECT max(seq) FROM log"));
}
