import type { Driver } from "../store/driver.ts";
import { selectCheckpoints } from "./checkpoint.ts";

/**
 * Tables whose rows belong to a generation, with the key of a row, and how many
 * are deleted in one step, so that no writer waits for long.
 */
const tables = [
  ["orders", "rowid", 2_000],
  ["users", "rowid", 2_000],
  ["order_links", "kind, link, began_by, order_id", 10_000],
  ["session_links", "kind, link, recorded_at, position", 10_000],
] as const;

/**
 * Deletes states that no checkpoint names any more, step by step. What a kill
 * leaves is found again the next time.
 *
 * @param driver The database.
 * @param signal Stops between two steps.
 */
export async function deleteOldGenerations(
  driver: Driver,
  signal?: AbortSignal,
): Promise<void> {
  for (const [table, key, stepRows] of tables) {
    for (const generation of await oldGenerations(driver, table)) {
      for (;;) {
        signal?.throwIfAborted();
        const [deleted] = await driver.batch([{
          sql: `DELETE FROM ${table} WHERE generation = ?1 AND (${key}) IN (
            SELECT ${key} FROM ${table} WHERE generation = ?1 LIMIT ${stepRows})`,
          args: [generation],
        }], "write");
        if ((deleted?.rowsAffected ?? 0) < stepRows) break;
      }
    }
  }
}

/** Hops from one generation to the next, so that no row is looked at. */
async function oldGenerations(
  driver: Driver,
  table: string,
): Promise<number[]> {
  const [rows, checkpoints] = await driver.batch([{
    sql: `WITH RECURSIVE found(generation) AS (
        SELECT min(generation) FROM ${table}
        UNION ALL
        SELECT (SELECT min(t.generation) FROM ${table} AS t
          WHERE t.generation > found.generation)
        FROM found WHERE found.generation IS NOT NULL)
      SELECT generation FROM found WHERE generation IS NOT NULL`,
    args: [],
  }, selectCheckpoints], "read");
  const named = new Set(checkpoints?.rows.map((row) => row[1]));
  return rows?.rows.map(([generation]) => generation as number)
    .filter((generation) => !named.has(generation)) ?? [];
}
