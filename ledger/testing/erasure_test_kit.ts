/** What tests of erasing and pruning work with. */
import assert from "node:assert/strict";
import { verifyStates } from "../evidence/verify_states.ts";
import type { Ledger } from "../ledger.ts";
import type { Driver } from "../store/driver/driver.ts";
import { emptyStore } from "./projection_test_kit.ts";
import type { Person } from "./person_events.ts";

/** Asserts that the states are those that follow from the events. */
export async function assertFollows({ driver }: Ledger): Promise<void> {
  const scratch = await emptyStore();
  try {
    const { differences } = await verifyStates(driver, {
      scratch,
      assets: "sandbox",
    });
    assert.deepEqual(differences, []);
  } finally {
    await scratch.close();
  }
}

/** Every row of every table, as text: values of a person in them. */
export async function inTables(
  driver: Driver,
  { values }: Person,
): Promise<string[]> {
  const [tables] = await driver.batch([{
    sql: "SELECT name FROM sqlite_schema WHERE type = 'table'",
    args: [],
  }], "read");
  const all: string[] = [];
  for (const [table] of tables?.rows ?? []) {
    const [rows] = await driver.batch([{
      sql: `SELECT * FROM "${table}"`,
      args: [],
    }], "read");
    const text = rows?.rows.map((row) =>
      row.map((value) =>
        value instanceof Uint8Array ? new TextDecoder().decode(value) : value
      ).join(" ")
    ).join("\n") ?? "";
    for (const value of values) {
      if (text.includes(value)) {
        all.push(`${table}: ${value}`);
      }
    }
  }
  return all;
}
