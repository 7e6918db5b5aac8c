import { liveGeneration } from "../checkpoints.ts";
import type { SqlValue, Statement } from "../../driver/driver.ts";
import {
  type Condition,
  type ListSort,
  type Selection,
  WALKED,
} from "./selection.ts";
import { queryMs } from "../query_values.ts";

/** A place in the order of a list: SQL of each key, and its values. */
export interface ListPlace {
  /** One placeholder or expression a key. */
  readonly sql: readonly string[];
  /** One value per placeholder. */
  readonly args: readonly SqlValue[];
}

/** A part of a list: behind a place, and up to another one. */
export interface ListStep {
  /** Null from the first row on. */
  readonly from: ListPlace | null;
  /** Null to the last row. */
  readonly to: ListPlace | null;
}

/** All of a list. */
export const WHOLE: ListStep = { from: null, to: null };

/** Whether a list is sorted by amount. */
export function isByAmount(sort: ListSort | undefined): boolean {
  return sort === "largest" || sort === "smallest";
}

/** Whether the first rows of a list have the highest keys. */
export function isDescending(sort: ListSort = "newest"): boolean {
  return sort === "newest" || sort === "largest";
}

/**
 * What a list is sorted by. Amounts that cannot be compared count as less than
 * nothing.
 */
export function sortKeys({ query, index }: Selection): readonly string[] {
  const amount = index === WALKED.amount
    ? "sort_amount"
    : "coalesce(amount, -1)";
  return [...(isByAmount(query.sort) ? [amount] : []), "sort_at", "place"];
}

/** SQL of the order of a list. */
export function orderBy(
  { sort }: Selection["query"],
  keys: readonly string[],
): string {
  const direction = isDescending(sort) ? "DESC" : "ASC";
  return `ORDER BY ${keys.map((key) => `${key} ${direction}`).join(", ")}`;
}

/**
 * The conditions of times and amounts, and those of a part of the list. SQLite
 * goes by one bound of each side: where the part has one, by that.
 */
export function boundConditions(
  selection: Selection,
  { from, to }: ListStep,
): Condition[] {
  const { query, index, amounts = {} } = selection;
  const [lower, upper] = isDescending(query.sort) ? [to, from] : [from, to];
  const bound = (side: ListPlace | null, column: string) =>
    side === null ? column : `+${column}`;
  const conditions: Condition[] = [];
  const add = (sql: string, ...args: readonly SqlValue[]) =>
    conditions.push({ sql, args });
  const { createdAfter, createdUpTo } = query;
  if (createdAfter !== undefined) {
    add(
      `${bound(lower, "sort_at")} > ?`,
      queryMs("createdAfter", createdAfter),
    );
  }
  if (createdUpTo !== undefined) {
    add(
      `${bound(upper, "sort_at")} <= ?`,
      queryMs("createdUpTo", createdUpTo),
    );
  }
  const amount = index === WALKED.amount ? "sort_amount" : "amount";
  // No amount is less than nothing, and what cannot be compared is.
  const least = amounts.from ?? (amounts.to === undefined ? undefined : 0);
  if (least !== undefined) add(`${bound(lower, amount)} >= ?`, least);
  if (amounts.to !== undefined) add(`${bound(upper, amount)} <= ?`, amounts.to);
  const keys = sortKeys(selection).join(", ");
  const sign = isDescending(query.sort) ? ["<", ">="] : [">", "<="];
  for (const [at, place] of [from, to].entries()) {
    if (place === null) continue;
    add(`(${keys}) ${sign[at]} (${place.sql.join(", ")})`, ...place.args);
  }
  return conditions;
}

/**
 * Selects where the step ends that has so many rows of an index, whatever else
 * is asked of them: rows of id, and of the keys of the list.
 *
 * @param selection Of orders, by one of {@linkcode WALKED}.
 */
export function selectStepEnd(
  selection: Selection,
  from: ListPlace | null,
  rows: number,
): Statement {
  const { index, query } = selection;
  const keys = sortKeys(selection);
  // What the index is not sorted by would be looked for without end.
  const conditions = boundConditions({
    ...selection,
    ...(index === WALKED.time
      ? { amounts: {} }
      : { query: query.sort === undefined ? {} : { sort: query.sort } }),
  }, { from, to: null });
  return {
    sql: `SELECT order_id, ${keys.join(", ")} FROM orders INDEXED BY ${index}
      WHERE generation = ${liveGeneration}
        ${conditions.map(({ sql }) => `AND ${sql}`).join(" ")}
      ${orderBy(query, keys)} LIMIT 1 OFFSET ?`,
    args: [...conditions.flatMap(({ args }) => args), rows - 1],
  };
}

/** The place of a row, by the values of its keys. */
export function placeOf(values: readonly SqlValue[]): ListPlace {
  return { sql: values.map(() => "?"), args: values };
}
