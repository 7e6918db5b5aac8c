import {
  FACT_VALUES,
  forgetOutcomes,
  OUTCOME_TABLE,
  type OutcomeFacts,
  type OutcomeRow,
} from "../../../ledger/testing/mod.ts";

import { broke } from "../world/broke.ts";

/** Another table of outcomes in place of the true one. */
export type TableChange = (rows: readonly OutcomeRow[]) => OutcomeRow[];

/**
 * Runs something with another table of outcomes, for all that reads it; then
 * the true one is back.
 */
export async function withTable<T>(
  change: TableChange,
  run: () => Promise<T>,
): Promise<T> {
  const table = OUTCOME_TABLE as OutcomeRow[];
  const rows = [...table];
  const use = (those: readonly OutcomeRow[]): void => {
    table.splice(0, table.length, ...those);
    forgetOutcomes();
  };
  use(change(rows));
  try {
    return await run();
  } finally {
    use(rows);
  }
}

/**
 * The table as one reads it who takes some values of a fact for others.
 *
 * @param fact The fact.
 * @param taken What its values are taken for; those left out for themselves.
 */
export function mistaking<Fact extends keyof OutcomeFacts>(
  fact: Fact,
  taken: Partial<Record<OutcomeFacts[Fact], OutcomeFacts[Fact]>>,
): TableChange {
  const values =
    FACT_VALUES[fact] as readonly string[] as readonly OutcomeFacts[Fact][];
  return (rows) =>
    rows.map((row) => {
      const asked = row.when[fact] as readonly OutcomeFacts[Fact][] | undefined;
      if (asked === undefined) return row;
      const left = values.filter((value) =>
        asked.includes(taken[value] ?? value)
      );
      const isSame = values.every((value) =>
        asked.includes(value) === left.includes(value)
      );
      return isSame ? row : {
        ...row,
        get when() {
          broke();
          return { ...row.when, [fact]: left };
        },
      };
    });
}
