import { isPaidTwice, orderContext } from "./order_context.ts";
import { liveGeneration } from "./checkpoints.ts";
import { amountSumSql, orderStateSql } from "./orders.ts";
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
  /** Whether its index has few rows of what is selected. @default {false} */
  readonly isOfFew?: boolean;
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
  const { table, where, query } = selection;
  const id = table === "orders" ? "order_id" : "user_id";
  const newest = (query.sort ?? "newest") === "newest";
  const conditions = [...where, ...createdConditions(query)];
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
  const selected = selects(
    { ...selection, where: conditions },
    `${stateSql(table)}, activity, sort_at, ${id}, place, ` +
      `length(CAST(${stateSql(table)} AS BLOB)) + ` +
      `length(CAST(activity AS BLOB))${context(table)}`,
  );
  return {
    sql: `${selected.sql} ORDER BY sort_at ${order}, place ${order} LIMIT ?`,
    args: [...selected.args, pageSize(query.limit) + 1],
  };
}

/** When the rows were created. */
function createdConditions(query: PageQuery): Condition[] {
  const { createdAfter, createdUpTo, after, sort = "newest" } = query;
  // SQLite takes one bound of each side: with a cursor, the cursor's.
  const [lower, upper] = after === undefined
    ? ["sort_at", "sort_at"]
    : sort === "newest"
    ? ["sort_at", "+sort_at"]
    : ["+sort_at", "sort_at"];
  const conditions: Condition[] = [];
  if (createdAfter !== undefined) {
    conditions.push({
      sql: `${lower} > ?`,
      args: [queryTime("createdAfter", createdAfter)],
    });
  }
  if (createdUpTo !== undefined) {
    conditions.push({
      sql: `${upper} <= ?`,
      args: [queryTime("createdUpTo", createdUpTo)],
    });
  }
  return conditions;
}

/** What is read of the rows of a selection, whatever their order. */
function selects(
  { table, index, where, either = [ALWAYS] }: Selection,
  columns: string,
): Condition {
  const parts = either.map((one) => {
    const all = [...where, one];
    return {
      sql: `SELECT ${columns} FROM ${table} ` +
        (index === undefined ? "" : `INDEXED BY ${index} `) +
        `WHERE generation = ${liveGeneration}` +
        all.map(({ sql }) => sql === "" ? "" : ` AND ${sql}`).join(""),
      args: all.flatMap(({ args }) => args),
    };
  });
  return {
    sql: parts.map(({ sql }) => sql).join(" UNION ALL "),
    args: parts.flatMap(({ args }) => args),
  };
}

/** Where an order stands among those of one generation. */
export interface OrderPlace {
  /** Time it is sorted by. */
  readonly sortAt: string;
  /** Its place among those of one time. */
  readonly place: number;
}

/** A part of a list: behind an order, and up to another one. */
export interface OrderStep {
  /** Null from the newest on. */
  readonly from: OrderPlace | null;
  /** Null to the oldest. */
  readonly to: OrderPlace | null;
}

/** Selects where the step ends that has so many orders, whatever they are. */
export function selectStepEnd(
  query: PageQuery,
  from: OrderPlace | null,
  orders: number,
): Statement {
  const conditions = [
    ...createdConditions(query),
    ...stepConditions({
      from,
      to: null,
    }),
  ];
  return {
    sql: `SELECT sort_at, place FROM orders INDEXED BY orders_by_time
      WHERE generation = ${liveGeneration}
        ${conditions.map(({ sql }) => `AND ${sql}`).join(" ")}
      ORDER BY sort_at DESC, place DESC LIMIT 1 OFFSET ?`,
    args: [...conditions.flatMap(({ args }) => args), orders - 1],
  };
}

function stepConditions({ from, to }: OrderStep): Condition[] {
  const than = (sign: string, one: OrderPlace | null): Condition[] =>
    one === null ? [] : [{
      sql: `(sort_at, place) ${sign} (?, ?)`,
      args: [one.sortAt, one.place],
    }];
  return [...than("<", from), ...than(">=", to)];
}

/**
 * Counts and adds up the orders of a selection: rows of currency, trust, number
 * of orders, number of amounts, and the sum of these.
 *
 * @param step Only those of a part of the list. @default {all of it}
 */
export function orderTotals(
  selection: Selection,
  step: OrderStep = { from: null, to: null },
): Statement {
  const where = [
    ...selection.where,
    ...createdConditions(selection.query),
    ...stepConditions(step),
  ];
  const { sql, args } = selects(
    { ...selection, where },
    "upper(currency) AS currency, trust, amount",
  );
  return {
    sql: `SELECT currency, trust, count(*), count(amount), ${amountSumSql}
      FROM (${sql}) GROUP BY currency, trust`,
    args,
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
