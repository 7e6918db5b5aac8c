/** Deliveries that were answered and wait beside the ledger, as their processes last said. */
import type { Driver } from "../store/driver/driver.ts";
import {
  listed,
  select,
  selectValue,
  statement,
  write,
} from "../store/database.ts";
import { asked, where } from "./pages.ts";

/** A process that moves deliveries, and the folder that it takes them from. */
export interface Mover {
  readonly place: string;
  /** Name of the process, which no other ever has. */
  readonly process: string;
  /** Ended processes whose deliveries are counted as its own now. @default {none} */
  readonly takenOver?: ReadonlySet<string>;
  /** Other processes of which files are in the folder. @default {none} */
  readonly others?: ReadonlySet<string>;
  /** When the folder was listed, ms since 1970. @default {never} */
  readonly listedMs?: number;
}

/** The longest pause between two writes of a mover whose process runs, 2 minutes. */
const IS_FRESH = "abs(?1 - written_at) <= 120000";

/** Deliveries that were answered, and that the ledger does not have yet. */
export interface WaitingDeliveries {
  /** How many, as last written down. */
  readonly count: number;
  /** When the oldest of them was received, ms since 1970. */
  readonly oldestMs: number;
  /**
   * How many of them may wait in the files of a process that has ended: for two
   * minutes it wrote nothing.
   */
  readonly ended: number;
}

/** Sums up what waits; null when nothing does. */
export async function readWaiting(
  driver: Driver,
  nowMs: number,
): Promise<WaitingDeliveries | null> {
  const [row = []] = await select(
    driver,
    `SELECT sum(deliveries), min(oldest_at),
        sum(iif(${IS_FRESH}, 0, deliveries)) FROM waiting`,
    nowMs,
  );
  const [count = 0, oldestMs = 0, ended = 0] = row.map(Number);
  return row[0] === null ? null : { count, oldestMs, ended };
}

/** When the oldest delivery came that waits with a process that still runs. */
export async function readOldestWaiting(
  driver: Driver,
  nowMs: number,
): Promise<number | null> {
  const sql = `SELECT min(oldest_at) FROM waiting WHERE ${IS_FRESH}`;
  const oldestMs = await selectValue(driver, sql, nowMs);
  return oldestMs === null ? null : Number(oldestMs);
}

/** Writes down what waits with a mover; null where nothing does. */
export async function writeWaiting(
  driver: Driver,
  mover: Mover,
  waiting: Omit<WaitingDeliveries, "ended"> | null,
  nowMs: number,
): Promise<void> {
  const { place, process, takenOver = [], others = [], listedMs = 0 } = mover;
  // Rows of processes whose deliveries are counted elsewhere or are gone.
  const gone = where(
    `(place = ?1 AND process = ?2 AND ?3)
      OR process IN (SELECT value FROM json_each(?4))
      OR (place = ?1 AND process <> ?2 AND written_at < ?5
        AND process NOT IN (SELECT value FROM json_each(?6)))`,
    ...[place, process, waiting === null ? 1 : 0, listed(takenOver)],
    ...[Math.max(listedMs, 0), listed(others)],
  );
  if (waiting === null) {
    const sql = `SELECT 1 FROM waiting WHERE ${gone.sql} LIMIT 1`;
    // Most often there is nothing to remove, and then nothing is written.
    if ((await select(driver, sql, ...gone.args)).length === 0) return;
  }
  await write(driver, [
    ...asked(waiting ?? undefined, ({ count, oldestMs }) =>
      statement(
        "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?, ?)",
        ...[place, process, count, Math.floor(oldestMs), Math.floor(nowMs)],
      )),
    statement(`DELETE FROM waiting WHERE ${gone.sql}`, ...gone.args),
  ]);
}
