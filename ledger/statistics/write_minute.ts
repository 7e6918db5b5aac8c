import type { Driver } from "../store/driver/driver.ts";
import { deleteMinutesBefore, writeMinutes } from "../store/tables/minutes.ts";
import type { MinuteRecord } from "./minute_record.ts";

/** A minute in milliseconds. */
export const MINUTE_MS = 60_000;

/** Minutes are kept for so long: 90 days. */
export const MAX_MINUTES = 90 * 24 * 60;

/**
 * Stores minutes of a process, and deletes a few of the oldest.
 *
 * @param driver The ledger's database.
 * @param process Name of the process; no two have the same.
 * @param minutes Records by minute, counted from 1970; one that is stored
 * already is replaced.
 * @throws {LedgerError} When the database fails.
 */
export async function storeMinutes(
  driver: Driver,
  process: string,
  minutes: ReadonlyMap<number, MinuteRecord>,
): Promise<void> {
  if (minutes.size === 0) return;
  const rows = [...minutes].map(([minute, record]) =>
    [minute, JSON.stringify(record)] as const
  );
  const newest = Math.max(...minutes.keys());
  await driver.batch([
    writeMinutes(process, rows),
    deleteMinutesBefore(newest - MAX_MINUTES),
  ], "write");
}
