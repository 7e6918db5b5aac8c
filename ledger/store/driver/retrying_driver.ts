import { sleep } from "../../../core/waiting/sleep.ts";
import { backoffMs } from "../../../core/waiting/retry_delay.ts";
import type { Driver } from "./driver.ts";
import { LedgerError } from "./errors.ts";

/** How long, and how, a batch is retried while the database is busy. */
export interface RetryOptions {
  /** Gives up with `busy` after this long, in ms. @default 5000 */
  readonly busyLimitMs?: number | undefined;
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/**
 * Lets a driver retry while its database is busy. It waits outside the driver, so
 * that a lock never blocks a thread for longer than the driver's short timeout.
 * A busy batch was rolled back completely, so a retry cannot write twice.
 */
export function retrying(driver: Driver, options: RetryOptions = {}): Driver {
  const { busyLimitMs = 5000, now = Date.now, random = Math.random } = options;
  const wait = options.sleep ?? sleep;
  const whileBusy = async <Result>(work: () => Promise<Result>) => {
    const start = now();
    for (let attempt = 0;; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "busy") {
          throw error;
        }
        const waitedMs = now() - start;
        if (waitedMs >= busyLimitMs) {
          throw new LedgerError(
            "busy",
            `${error.message} (gave up after ${Math.round(waitedMs)} ms)`,
            { cause: error },
          );
        }
        await wait(busyDelayMs(attempt, random()));
      }
    }
  };
  const { copyTo, vacuum, emptyLog, work } = driver;
  return {
    location: driver.location,
    batch: (statements, mode) =>
      whileBusy(() => driver.batch(statements, mode)),
    ...copyTo && { copyTo: copyTo.bind(driver) },
    ...emptyLog && { emptyLog: emptyLog.bind(driver) },
    ...work && { work: work.bind(driver) },
    ...vacuum && { vacuum: () => whileBusy(() => vacuum.call(driver)) },
    close: () => driver.close(),
  };
}

/** Half to all of 5 ms, doubled each time up to 200 ms. */
export function busyDelayMs(attempt: number, random: number): number {
  const fullMs = backoffMs(attempt + 1, { firstMs: 5, longestMs: 200 });
  return fullMs * (0.5 + random / 2);
}

/** The same, once the database answers; closes the driver when it does not. */
export async function reached(
  driver: Driver,
  { busyLimitMs }: Pick<RetryOptions, "busyLimitMs">,
): Promise<Driver> {
  const opened = retrying(driver, { busyLimitMs });
  try {
    await opened.batch([{ sql: "SELECT 1", args: [] }], "read");
  } catch (error) {
    await driver.close();
    throw error;
  }
  return opened;
}

/** Lost races in a row after which the error is thrown. */
const MOST_ATTEMPTS = 100;

/**
 * Repeats a step whose write was refused because another process wrote first.
 * `mode` says how to read: after a lost race from the primary, because a replica
 * may be behind.
 */
export async function retryLostRaces<Result>(
  attempt: (mode: "read" | "write") => Promise<Result>,
): Promise<Result> {
  for (let attempts = 1;; attempts++) {
    try {
      return await attempt(attempts === 1 ? "read" : "write");
    } catch (error) {
      if (!isLostRace(error) || attempts === MOST_ATTEMPTS) throw error;
    }
  }
}

/** Whether a write was refused because another process wrote first. */
export function isLostRace(error: unknown): boolean {
  return error instanceof LedgerError && error.code === "conflict";
}

/** The error of a step that saw before its write that it lost the race. */
export function lostRace(): LedgerError {
  return new LedgerError("conflict", "Another process was first");
}
