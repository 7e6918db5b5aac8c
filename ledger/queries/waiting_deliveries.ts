import type { Driver } from "../store/driver/driver.ts";
import {
  deleteMovers,
  type Mover,
  selectMovers,
  selectMoversDone,
  writeMover,
} from "../store/tables/deliveries.ts";

/** Longest pause between two writes of a mover whose process runs. */
const ENDED_MS = 2 * 60_000;

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

/** What one mover wrote down. */
export interface MoverRow {
  /** Deliveries that wait. */
  readonly count: number;
  /** When the oldest of them was received, ms since 1970. */
  readonly oldestMs: number;
  /** When this was written, ms since 1970. */
  readonly writtenMs: number;
}

/**
 * Sums up what movers wrote down.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns Null when nothing waits.
 */
function waitingOf(
  rows: readonly MoverRow[],
  nowMs: number,
): WaitingDeliveries | null {
  if (rows.length === 0) return null;
  const sum = (some: readonly MoverRow[]) =>
    some.reduce((total, { count }) => total + count, 0);
  return {
    count: sum(rows),
    oldestMs: Math.min(...rows.map(({ oldestMs }) => oldestMs)),
    ended: sum(rows.filter((row) => !isFresh(row, nowMs))),
  };
}

/**
 * When the oldest delivery came that waits with a process that still runs.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns Null when none is known.
 */
export function oldestWaitingMs(
  rows: readonly MoverRow[],
  nowMs: number,
): number | null {
  const fresh = rows.filter((row) => isFresh(row, nowMs));
  if (fresh.length === 0) return null;
  return Math.min(...fresh.map(({ oldestMs }) => oldestMs));
}

/** Whether the process that wrote a row still runs, by a clock like ours. */
function isFresh({ writtenMs }: MoverRow, nowMs: number): boolean {
  return Math.abs(nowMs - writtenMs) <= ENDED_MS;
}

/** Reads what the movers of a ledger wrote down. */
export async function readMovers(driver: Driver): Promise<MoverRow[]> {
  const [found] = await driver.batch([selectMovers], "read");
  return (found?.rows ?? []).map(([count, oldestMs, writtenMs]) => ({
    count: Number(count),
    oldestMs: Number(oldestMs),
    writtenMs: Number(writtenMs),
  }));
}

/**
 * Reads what waits in the spools of a ledger.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns Null when nothing is known to wait.
 * @throws {LedgerError} When the database fails.
 */
export async function readWaiting(
  driver: Driver,
  nowMs: number,
): Promise<WaitingDeliveries | null> {
  return waitingOf(await readMovers(driver), nowMs);
}

/**
 * Writes down what a mover has waiting, for readers in other processes. With it
 * goes what ended processes wrote: where this one has taken over what they left,
 * and where no file of theirs was in the folder when it was listed after that.
 *
 * @param waiting Null when nothing waits.
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {LedgerError} When the database fails.
 */
export async function writeWaiting(
  driver: Driver,
  mover: Mover,
  waiting: Omit<MoverRow, "writtenMs"> | null,
  nowMs: number,
): Promise<void> {
  if (waiting !== null) {
    const { count, oldestMs } = waiting;
    await driver.batch([
      writeMover(mover, [count, Math.floor(oldestMs), nowMs]),
      deleteMovers(mover, false),
    ], "write");
    return;
  }
  // Most often there is nothing to remove, and then nothing is written.
  const [found] = await driver.batch([selectMoversDone(mover, true)], "read");
  if (found?.rows.length === 0) return;
  await driver.batch([deleteMovers(mover, true)], "write");
}
