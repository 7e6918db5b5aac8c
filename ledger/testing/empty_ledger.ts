import assert from "node:assert/strict";
import type { Driver } from "../store/database.ts";
import type { Person } from "./person_events.ts";
import type { Ledger } from "../ledger.ts";
import { ledgerOn } from "../ledger_on.ts";
import type { LedgerOptions } from "../store/create.ts";
import { openMemoryLedger } from "../open_ledger.ts";

/**
 * An empty ledger in memory, as `openLedger` gives it.
 *
 * @param options As of `openLedger`. @default {of the environment `sandbox`}
 */
export async function emptyLedger(
  options: LedgerOptions = {},
): Promise<Ledger> {
  const { environment = "sandbox", now = Date.now, randomBytes } = options;
  const driver = await openMemoryLedger({
    environment,
    now,
    ...(randomBytes && { randomBytes }),
  });
  return await ledgerOn(driver, { ...options, environment });
}

/** Asserts that the states are those that follow from the events. */
export async function assertFollows(ledger: Ledger): Promise<void> {
  const { differences } = await ledger.verifyStates();
  assert.deepEqual(differences, []);
}

/** Every row of every table, as text: values of a person in them. */
export async function inTables(
  driver: Driver,
  { values }: Pick<Person, "values">,
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
