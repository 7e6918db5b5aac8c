import { isPaidTwice, orderContext } from "./order_context.ts";
import { liveGeneration } from "./checkpoints.ts";
import { orderStateSql } from "./orders.ts";
import { userTextsSql } from "./users.ts";
import type { Entity } from "../../machines/transition.ts";
import type { Driver, SqlValue, Statement } from "../driver/driver.ts";
import {
  decodeCursor,
  encodeCursor,
  fitting,
  pageSize,
  queryTime,
} from "./query_values.ts";

/**
 * Bytes that readers get of a row, at most: what is stored leaves out names of
 * fields without a value, and says what two fields share once.
 */
function shownBytes(stored: number): number {
  return 3 * stored + 1500;
}

/** What every query of states can say. */
export interface PageQuery {
  /**
   * Only what was created after it, ISO 8601 with a zone. Until the service has
   * stated when, the time of the first event stands for it.
   */
  readonly createdAfter?: string;
  /** Only what was created then or before, ISO 8601 with a zone. */
  readonly createdUpTo?: string;
  /** `newest` first or `oldest` first. @default "newest" */
  readonly sort?: "newest" | "oldest";
  /**
   * Rows of a page, 1 to 1000. It has fewer where they are long: only a `next`
   * that is null says that it is the last one.
   *
   * @default 100
   */
  readonly limit?: number;
  /** `next` of the page before. @default from the beginning */
  readonly after?: string;
}

/** One condition of a query. */
export interface Condition {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: readonly SqlValue[];
}

/** What is read, and how. */
export interface Selection {
  /** `orders` or `users`. */
  readonly table: "orders" | "users";
  /**
   * Index to go by, where SQLite would rather walk all rows in their order.
   *
   * @default what SQLite chooses
   */
  readonly index?: string;
  /** Conditions besides those of {@linkcode PageQuery}. */
  readonly where: readonly Condition[];
  /**
   * Of these one holds, and never two for one row. Each is read by an index of
   * its own, and the rows of all are merged in their order.
   *
   * @default none: `where` alone selects
   */
  readonly either?: readonly Condition[];
  /** The query. */
  readonly query: PageQuery;
}

/** Rows of one page. */
export interface RowPage {
  /** State and activity of each, as they are stored. */
  readonly rows: readonly {
    readonly state: string;
    readonly activity: string;
    /** What a row of an order says beside its state. */
    readonly context: readonly SqlValue[];
  }[];
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null;
}

/**
 * The statement that reads one page, and one row more to know whether there is
 * another.
 *
 * @param selection What to read.
 */
export function pageStatement(selection: Selection): Condition {
  const { table, index, where, either = [ALWAYS], query } = selection;
  const id = table === "orders" ? "order_id" : "user_id";
  const newest = (query.sort ?? "newest") === "newest";
  const conditions = [...where];
  // SQLite takes one bound of each side: with a cursor, the cursor's.
  const [lower, upper] = query.after === undefined
    ? ["sort_at", "sort_at"]
    : newest
    ? ["sort_at", "+sort_at"]
    : ["+sort_at", "sort_at"];
  if (query.createdAfter !== undefined) {
    conditions.push({
      sql: `${lower} > ?`,
      args: [queryTime("createdAfter", query.createdAfter)],
    });
  }
  if (query.createdUpTo !== undefined) {
    conditions.push({
      sql: `${upper} <= ?`,
      args: [queryTime("createdUpTo", query.createdUpTo)],
    });
  }
  if (query.after !== undefined) {
    const end = decodeCursor(query.after);
    // Where the row is gone, all of its time count as read.
    conditions.push({
      sql: `(sort_at, place) ${newest ? "<" : ">"} (?, coalesce((SELECT e.place
        FROM ${table} AS e WHERE e.generation = ${liveGeneration}
          AND e.${id} = ?), ${newest ? 0 : Number.MAX_SAFE_INTEGER}))`,
      args: [end.sortAt, end.id],
    });
  }
  const order = newest ? "DESC" : "ASC";
  const selects = either.map((one) => {
    const all = [...conditions, one];
    return {
      sql: `SELECT ${stateSql(table)}, activity, sort_at, ${id}, place, ` +
        `length(CAST(${stateSql(table)} AS BLOB)) + ` +
        `length(CAST(activity AS BLOB))` +
        `${context(table)} FROM ${table} ` +
        (index === undefined ? "" : `INDEXED BY ${index} `) +
        `WHERE generation = ${liveGeneration}` +
        all.map(({ sql }) => sql === "" ? "" : ` AND ${sql}`).join(""),
      args: all.flatMap(({ args }) => args),
    };
  });
  return {
    sql: selects.map(({ sql }) => sql).join(" UNION ALL ") +
      ` ORDER BY sort_at ${order}, place ${order} LIMIT ?`,
    args: [
      ...selects.flatMap(({ args }) => args),
      pageSize(query.limit) + 1,
    ],
  };
}

const ALWAYS: Condition = { sql: "", args: [] };

/**
 * Reads one page.
 *
 * @param selection What to read.
 */
export async function selectPage(
  driver: Driver,
  selection: Selection,
): Promise<RowPage> {
  const size = pageSize(selection.query.limit);
  const [result] = await driver.batch([pageStatement(selection)], "read");
  const rows = result?.rows ?? [];
  const fit = fitting(
    rows.slice(0, size),
    ([, , , , , bytes]) => shownBytes(Number(bytes)),
  );
  const last = rows.length > fit.length ? fit.at(-1) : undefined;
  return {
    rows: fit.map(([state, activity, , , , , ...context]) => ({
      state: state as string,
      activity: activity as string,
      context,
    })),
    next: last === undefined ? null : encodeCursor({
      sortAt: last[2] as string,
      id: last[3] as string,
    }),
  };
}

/** Selects state and activity of one live order or user. */
export function selectState(entity: Entity, id: string): Statement {
  return {
    sql: `SELECT ${stateSql(`${entity}s`)}, activity${
      context(`${entity}s`)
    } FROM ${entity}s
      WHERE generation = ${liveGeneration} AND ${entity}_id = ?`,
    args: [id],
  };
}

/** SQL for a state as one text. */
function stateSql(table: "orders" | "users"): string {
  return table === "orders" ? orderStateSql() : userTextsSql().state;
}

/** What rows of orders say beside their state. */
function context(table: "orders" | "users"): string {
  return table === "orders" ? `, ${orderContext}` : "";
}

/** Selects the position of the live states. */
export const selectLivePosition: Statement = {
  sql: "SELECT position FROM projections WHERE name = 'live'",
  args: [],
};

/**
 * Selects those live orders or users that there are: rows of id and state, and
 * of an order whether another order holds its purchase.
 */
export function selectStates(
  entity: Entity,
  ids: readonly string[],
): Statement {
  return {
    sql: `SELECT ${entity}_id, ${stateSql(`${entity}s`)}${
      entity === "order" ? `, ${isPaidTwice}` : ""
    } FROM ${entity}s
      WHERE generation = ${liveGeneration}
        AND ${entity}_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(ids)],
  };
}
