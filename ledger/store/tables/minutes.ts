import type { Statement } from "../driver/driver.ts";

/**
 * One row a minute of each `serve` process: what was answered and stored, and
 * how far the work was. `minute` counts from 1970; the record is JSON.
 */
export const minutesSchema: readonly string[] = [
  `CREATE TABLE minutes (
    minute INTEGER NOT NULL,
    process TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (minute, process)
  ) STRICT, WITHOUT ROWID`,
];

/** Rows that one batch deletes at most: it must not hold up deliveries. */
const DELETED_AT_ONCE = 200;

/**
 * Writes minutes of a process. One that is there already is replaced.
 *
 * @param process Name of the process.
 * @param minutes Minute and record of each.
 */
export function writeMinutes(
  process: string,
  minutes: readonly (readonly [minute: number, record: string])[],
): Statement {
  return {
    sql: `INSERT INTO minutes (minute, process, record)
      SELECT value ->> 0, ?1, value ->> 1 FROM json_each(?2) WHERE true
      ON CONFLICT (minute, process) DO UPDATE SET record = excluded.record`,
    args: [process, JSON.stringify(minutes)],
  };
}

/** Deletes the oldest minutes before one, a small step of them. */
export function deleteMinutesBefore(minute: number): Statement {
  return {
    sql: `DELETE FROM minutes WHERE (minute, process) IN (
      SELECT minute, process FROM minutes WHERE minute < ?
      ORDER BY minute, process LIMIT ${DELETED_AT_ONCE})`,
    args: [minute],
  };
}

/** Where a page of minutes begins. */
export interface AfterMinute {
  /** Minute of the last row before it. */
  readonly minute: number;
  /** Process of the last row before it. */
  readonly process: string;
}

/**
 * Selects minutes after a row and before another minute, by minute: rows of
 * minute, process and record.
 */
export function selectMinutes(
  after: AfterMinute,
  before: number,
  limit: number,
): Statement {
  return {
    sql: `SELECT minute, process, record FROM minutes
      WHERE (minute, process) > (?, ?) AND minute < ?
      ORDER BY minute, process LIMIT ?`,
    args: [after.minute, after.process, before, limit],
  };
}
