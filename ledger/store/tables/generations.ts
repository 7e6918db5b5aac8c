import type { Entity } from "../../machines/transition.ts";
import type { Statement } from "../driver/driver.ts";
import { ORDERS, orderStateSql, STATE_COLUMNS } from "./orders.ts";
import { userTextsSql } from "./users.ts";

/**
 * Tables whose rows belong to a generation, with the key of a row, and how many
 * are deleted in one step, so that no writer waits for long.
 */
const tables = {
  orders: { key: "rowid", stepRows: 2_000 },
  users: { key: "rowid", stepRows: 2_000 },
  order_links: {
    key: "kind, link, confirmed, began_by, row, capitals",
    stepRows: 10_000,
  },
  expectations: { key: "position", stepRows: 10_000 },
} as const;

/** A table whose rows belong to a generation. */
export type GenerationTable = keyof typeof tables;

/** All of them. */
export const generationTables = Object.keys(
  tables,
) as readonly GenerationTable[];

/** Selects the generations of which a table has rows, without reading those. */
export function selectGenerations(table: GenerationTable): Statement {
  return {
    sql: `WITH RECURSIVE found(generation) AS (
        SELECT min(generation) FROM ${table}
        UNION ALL
        SELECT (SELECT min(t.generation) FROM ${table} AS t
          WHERE t.generation > found.generation)
        FROM found WHERE found.generation IS NOT NULL)
      SELECT generation FROM found WHERE generation IS NOT NULL`,
    args: [],
  };
}

/** Deletes some rows of a generation; none are left when none was deleted. */
export function deleteSomeOf(
  table: GenerationTable,
  generation: number,
): Statement {
  const { key, stepRows } = tables[table];
  return {
    sql: `DELETE FROM ${table} WHERE generation = ?1 AND (${key}) IN (
      SELECT ${key} FROM ${table} WHERE generation = ?1 LIMIT ${stepRows})`,
    args: [generation],
  };
}

/**
 * Selects a page of what differs between two generations: the last id of the
 * page, null for the last page; then rows of id, state before, and state after.
 *
 * @param entity Orders or users.
 * @param page The generations, the id before the page, and most ids.
 */
export function selectDifferences(
  entity: Entity,
  page: {
    readonly before: number;
    readonly after: number;
    readonly afterId: string;
    readonly limit: number;
  },
): Statement[] {
  const { selectEnd, selectDifferent } = statementsOf[entity];
  const args = [page.before, page.after, page.afterId, page.limit - 1];
  return [{ sql: selectEnd, args }, { sql: selectDifferent, args }];
}

const statementsOf: Readonly<Record<Entity, ReturnType<typeof statements>>> = {
  order: statements("orders", "order_id", {
    state: orderStateSql,
    parts: [...ORDERS.of(STATE_COLUMNS), "state"],
  }),
  user: statements("users", "user_id", {
    state: (alias) => userTextsSql(alias).state,
    parts: ["state"],
  }),
};

/**
 * Arguments: generation before, generation after, last id, ids less one.
 *
 * @param stored SQL of the whole state, and the columns that it is made of.
 */
function statements(
  table: string,
  id: string,
  stored: {
    readonly state: (alias: string) => string;
    readonly parts: readonly string[];
  },
) {
  const { state } = stored;
  const parts = (alias: string) =>
    `(${stored.parts.map((part) => `${alias}.${part}`).join(", ")})`;
  const lastOfPage = (generation: string) =>
    `(SELECT ${id} FROM ${table} WHERE generation = ${generation} AND ${id} > ?3
      ORDER BY ${id} LIMIT 1 OFFSET ?4)`;
  // A page ends where the first of both has had its number of rows.
  const end = `(SELECT min(id) FROM (SELECT ${lastOfPage("?1")} AS id
    UNION ALL SELECT ${lastOfPage("?2")}))`;
  const inPage = (alias: string) =>
    `${alias}.${id} > ?3 AND (${end} IS NULL OR ${alias}.${id} <= ${end})`;
  return {
    selectEnd: `SELECT ${end}`,
    selectDifferent: `SELECT b.${id}, ${state("b")}, ${state("a")}
      FROM ${table} AS b LEFT JOIN ${table} AS a
        ON a.generation = ?2 AND a.${id} = b.${id}
      WHERE b.generation = ?1 AND ${inPage("b")}
        AND ${parts("b")} IS NOT ${parts("a")}
      UNION ALL SELECT a.${id}, NULL, ${state("a")} FROM ${table} AS a
      WHERE a.generation = ?2 AND ${inPage("a")} AND NOT EXISTS (
        SELECT 1 FROM ${table} AS b
        WHERE b.generation = ?1 AND b.${id} = a.${id})
      ORDER BY 1`,
  };
}
