import { isPaidTwice, orderContext } from "../order_context.ts";
import { liveGeneration } from "../checkpoints.ts";
import {
  boundConditions,
  isByAmount,
  isDescending,
  type ListPlace,
  type ListStep,
  orderBy,
  placeOf,
  selectStepEnd,
  sortKeys,
  WHOLE,
} from "./list_order.ts";
import { amountSumSql, orderStateSql } from "../orders.ts";
import {
  type Condition,
  type Range,
  type Selection,
  WALKED,
} from "./selection.ts";
import { userTextsSql } from "../users.ts";
import { timeOf } from "../stored_times.ts";
import { WALK_STEPS, walkIndex } from "./walk.ts";
import type { Entity } from "../../../machines/transition.ts";
import type { Driver, SqlValue, Statement } from "../../driver/driver.ts";
import {
  decodeCursor,
  encodeCursor,
  fitting,
  type PageEnd,
  pageSize,
  wrongQuery,
} from "../query_values.ts";

/**
 * Bytes that readers get of a row, at most: what is stored leaves out names of
 * fields without a value, and says what two fields share once.
 */
function shownBytes(stored: number): number {
  return 3 * stored + 1500;
}

/** Rows of one page. */
export interface RowPage {
  /** State and activity of each, as they are stored. */
  readonly rows: readonly StateRow[];
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null;
  /**
   * Up to where the list was looked through, where the page ended because of
   * that; else null.
   */
  readonly searchedTo: PageEnd | null;
}

/** A row of a page. */
export interface StateRow {
  readonly state: string;
  readonly activity: string;
  /** What a row of an order says beside its state. */
  readonly context: readonly SqlValue[];
}

/**
 * The statement that reads one page, and one row more to know whether there is
 * another: rows of state, activity, time, amount, id, bytes, place and
 * context.
 *
 * @param selection What to read.
 * @param step Only those of a part of the list. @default {what the cursor says}
 */
export function pageStatement(
  selection: Selection,
  step: ListStep = { from: cursorPlace(selection), to: null },
): Condition {
  const { table, where, query, index } = selection;
  const id = table === "orders" ? "order_id" : "user_id";
  const columns = (amount: string) =>
    `${stateSql(table)}, activity, sort_at, ${amount} AS sorted, ${id}, ` +
    `length(CAST(${stateSql(table)} AS BLOB)) + ` +
    `length(CAST(activity AS BLOB)), place${context(table)}`;
  const chosen = {
    ...selection,
    where: [...where, ...boundConditions(selection, step)],
  };
  const rows = pageSize(query.limit) + 1;
  const keys = sortKeys(selection);
  const [amount = "NULL"] = isByAmount(query.sort) ? keys : [];
  if (amount === "NULL" || index === WALKED.amount) {
    const { sql, args } = selects(chosen, columns(amount));
    const order = orderBy(
      query,
      keys.map((key) => key === amount ? "sorted" : key),
    );
    return { sql: `${sql} ${order} LIMIT ?`, args: [...args, rows] };
  }
  // Sorted by their short columns: only the rows of the page are read.
  const { sql, args } = selects(
    chosen,
    `row AS found, ${amount} AS sorted, sort_at, place`,
  );
  const order = orderBy(query, ["sorted", "sort_at", "place"]);
  return {
    sql: `SELECT ${columns(amount)} FROM ${table} WHERE row IN (
      SELECT found FROM (${sql}) ${order} LIMIT ?) ${order}`,
    args: [...args, rows],
  };
}

/** Where the page before ended. */
function cursorPlace({ table, query }: Selection): ListPlace | null {
  if (query.after === undefined) return null;
  const { sortAt, id, amount } = decodeCursor(query.after);
  if ((amount !== undefined) !== isByAmount(query.sort)) {
    throw wrongQuery("cursor", query.after, '"next" of a page sorted likewise');
  }
  const sortMs = Date.parse(sortAt);
  if (Number.isNaN(sortMs)) {
    throw wrongQuery("cursor", query.after, '"next" of an earlier page');
  }
  const column = table === "orders" ? "order_id" : "user_id";
  // Where the row is gone, all of its time count as read.
  const last = isDescending(query.sort) ? 0 : Number.MAX_SAFE_INTEGER;
  return {
    sql: [
      ...(amount === undefined ? [] : ["?"]),
      "?",
      `coalesce((SELECT e.place FROM ${table} AS e
        WHERE e.generation = ${liveGeneration} AND e.${column} = ?), ${last})`,
    ],
    args: [...(amount === undefined ? [] : [amount]), sortMs, id],
  };
}

/** What is read of the rows of a selection, whatever their order. */
function selects(
  { table, where, either = [ALWAYS], ...selection }: Selection,
  columns: string,
): Condition {
  const parts = either.map((one) => {
    const all = [...where, one];
    const { index = selection.index } = one;
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

/**
 * Counts and adds up the orders of a selection: rows of currency, trust, number
 * of orders, number of amounts, and the sum of these.
 *
 * @param step Only those of a part of the list. @default {all of it}
 */
export function orderTotals(
  selection: Selection,
  step: ListStep = WHOLE,
): Statement {
  const where = [...selection.where, ...boundConditions(selection, step)];
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

/**
 * Selects where the step ends that has so many chosen orders of which an index
 * has few: rows of id, and of the keys of the list.
 */
export function selectChosenEnd(
  selection: Selection,
  from: ListPlace | null,
  rows: number,
): Statement {
  const keys = sortKeys(selection);
  const bounds = boundConditions(selection, { from, to: null });
  const { sql, args } = selects(
    { ...selection, where: [...selection.where, ...bounds] },
    `order_id, ${keys.join(", ")}`,
  );
  return {
    sql: `${sql} ${orderBy(selection.query, keys)} LIMIT 1 OFFSET ?`,
    args: [...args, rows - 1],
  };
}

const ALWAYS: Range = { sql: "", args: [] };

/** Sorting so many takes as long as a page may. */
const SORTED = 20_000;

/**
 * Reads one page.
 *
 * @param selection What to read.
 * @param steps Rows that are looked through, where an index is walked.
 * @param sorted Orders of a window that are sorted by amount, at most, rather
 * than looked for among all.
 */
export async function selectPage(
  driver: Driver,
  selection: Selection,
  steps: readonly number[] = WALK_STEPS,
  sorted: number = SORTED,
): Promise<RowPage> {
  const { chosen, isWalked } = await routeOf(driver, selection, sorted);
  if (!isWalked) {
    const [page] = await driver.batch([pageStatement(chosen)], "read");
    return pageOf(chosen, page?.rows ?? [], null);
  }
  const first = async (statement: Statement) =>
    (await driver.batch([statement], "read"))[0]?.rows ?? [];
  const from = cursorPlace(chosen);
  const { rows, end } = await walkIndex<readonly SqlValue[], WalkPlace>(
    {
      end: async (from, step) => {
        const statement = selectStepEnd(chosen, from?.place ?? null, step);
        const [[id, ...keys] = []] = await first(statement);
        return id === undefined ? null : {
          place: placeOf(keys),
          end: endOf(id, keys.slice(0, -1)),
        };
      },
      read: (from, to) =>
        first(pageStatement(chosen, {
          from: from?.place ?? null,
          to: to?.place ?? null,
        })),
    },
    from === null ? null : { place: from, end: null },
    pageSize(chosen.query.limit),
    steps,
  );
  return pageOf(chosen, rows, end?.end ?? null);
}

/** A place in an index, and the cursor that goes on behind it. */
interface WalkPlace {
  readonly place: ListPlace;
  readonly end: PageEnd | null;
}

/**
 * How a page is read: where an index is walked, nobody knows how many of its
 * rows are chosen.
 */
async function routeOf(
  driver: Driver,
  selection: Selection,
  sorted: number,
): Promise<{ readonly chosen: Selection; readonly isWalked: boolean }> {
  const { index, query: { createdAfter, createdUpTo } } = selection;
  if (index !== WALKED.amount) {
    return { chosen: selection, isWalked: index === WALKED.time };
  }
  const isWindow = (createdAfter ?? createdUpTo) !== undefined;
  if (!isWindow) return { chosen: selection, isWalked: true };
  const byTime = { ...selection, index: WALKED.time };
  const { sort: _, ...query } = selection.query;
  const [ends] = await driver.batch(
    [selectStepEnd({ ...byTime, query }, null, sorted)],
    "read",
  );
  return (ends?.rows.length ?? 0) > 0
    ? { chosen: selection, isWalked: true }
    : { chosen: byTime, isWalked: false };
}

function pageOf(
  { query }: Selection,
  rows: readonly (readonly SqlValue[])[],
  end: PageEnd | null,
): RowPage {
  const size = pageSize(query.limit);
  const fit = fitting(
    rows.slice(0, size),
    ([, , , , , bytes]) => shownBytes(Number(bytes)),
  );
  const isCut = rows.length > fit.length;
  const [, , sortAt = 0, sorted = null, id = ""] = fit.at(-1) ?? [];
  const last = endOf(id, sorted === null ? [sortAt] : [sorted, sortAt]);
  const next = isCut ? last : end;
  return {
    rows: fit.map(([state, activity, , , , , , ...context]) => ({
      state: state as string,
      activity: activity as string,
      context,
    })),
    next: next === null ? null : encodeCursor(next),
    searchedTo: isCut ? null : end,
  };
}

/** Where a page ends, by the last row's id and keys without its place. */
function endOf(id: SqlValue, keys: readonly SqlValue[]): PageEnd {
  const [sortAt, amount] = keys.toReversed();
  return {
    sortAt: timeOf(sortAt ?? 0),
    id: String(id),
    ...(amount === undefined ? {} : { amount: Number(amount) }),
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
