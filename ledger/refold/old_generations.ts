import type { Driver } from "../store/driver/driver.ts";
import { selectCheckpoints } from "../store/tables/checkpoints.ts";

import {
  deleteSomeOf,
  type GenerationTable,
  generationTables,
  selectGenerations,
} from "../store/tables/generations.ts";

/**
 * Deletes states that no checkpoint names any more, step by step. What a kill
 * leaves is found again the next time.
 *
 * @param signal Stops between two steps.
 */
export async function deleteOldGenerations(
  driver: Driver,
  signal?: AbortSignal,
): Promise<void> {
  for (const table of generationTables) {
    for (const generation of await oldGenerations(driver, table)) {
      for (;;) {
        signal?.throwIfAborted();
        const [deleted] = await driver.batch(
          [deleteSomeOf(table, generation)],
          "write",
        );
        if ((deleted?.rowsAffected ?? 0) === 0) break;
      }
    }
  }
}

/** Hops from one generation to the next, so that no row is looked at. */
async function oldGenerations(
  driver: Driver,
  table: GenerationTable,
): Promise<number[]> {
  const [rows, checkpoints] = await driver.batch(
    [selectGenerations(table), selectCheckpoints],
    "read",
  );
  const named = new Set(checkpoints?.rows.map(([, generation]) => generation));
  return rows?.rows.map(([generation]) => generation as number)
    .filter((generation) => !named.has(generation)) ?? [];
}
