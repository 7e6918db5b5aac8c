import { sleep } from "../../../core/waiting/sleep.ts";
import { backoffMs } from "../../../core/waiting/retry_delay.ts";
import type { Driver, ResultSet, Statement } from "./driver.ts";
import { LedgerError } from "./errors.ts";

/** How long, and how, a batch is retried while the database is busy. */
export interface RetryOptions {
  /**
   * Gives up with `busy` after this long, in ms.
   *
   * @default 5000
   */
  readonly busyLimitMs?: number;
  /** The clock, in ms. */
  readonly now?: () => number;
  /** Waits; passed in by tests. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/**
 * Retries a batch while the database is busy. It waits outside the driver, so
 * that a lock never blocks a thread for longer than the driver's short timeout.
 * A busy batch was rolled back completely, so a retry cannot write twice.
 */
export class RetryingDriver implements Driver {
  /** Where the database lives. */
  readonly location: Driver["location"];
  /** Copies the live database into a new file; absent where it cannot. */
  readonly copyTo?: (path: string) => Promise<void>;
  /** Writes the database anew; absent where it cannot. */
  readonly vacuum?: () => Promise<void>;
  /** Empties the log of the database; absent where it cannot. */
  readonly emptyLog?: () => Promise<boolean>;
  readonly #driver: Driver;
  readonly #options: Required<RetryOptions>;

  /**
   * Wraps a driver that may be busy.
   *
   * @param driver The driver that may be busy.
   * @param options Limits, clock and waiting.
   */
  constructor(driver: Driver, options: RetryOptions = {}) {
    this.location = driver.location;
    this.#driver = driver;
    const copyTo = driver.copyTo?.bind(driver);
    if (copyTo !== undefined) this.copyTo = copyTo;
    const emptyLog = driver.emptyLog?.bind(driver);
    if (emptyLog !== undefined) this.emptyLog = emptyLog;
    const vacuum = driver.vacuum?.bind(driver);
    if (vacuum !== undefined) {
      this.vacuum = () => this.#whileBusy(vacuum);
    }
    this.#options = {
      busyLimitMs: options.busyLimitMs ?? 5000,
      now: options.now ?? Date.now,
      sleep: options.sleep ?? sleep,
      random: options.random ?? Math.random,
    };
  }

  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} `busy` when the lock was held for too long.
   */
  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    return this.#whileBusy(() => this.#driver.batch(statements, mode));
  }

  async #whileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
    const { now, sleep, random, busyLimitMs } = this.#options;
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
        await sleep(busyDelayMs(attempt, random()));
      }
    }
  }

  /** Releases the database. */
  close(): Promise<void> {
    return this.#driver.close();
  }
}

/** Half to all of 5 ms, doubled each time up to 200 ms. */
export function busyDelayMs(attempt: number, random: number): number {
  const fullMs = backoffMs(attempt + 1, { firstMs: 5, longestMs: 200 });
  return fullMs * (0.5 + random / 2);
}

/**
 * Lets a driver retry while its database is busy, and proves that the database
 * answers; closes the driver when it does not.
 */
export async function reached(
  driver: Driver,
  { busyLimitMs }: { readonly busyLimitMs?: number },
): Promise<Driver> {
  const retrying = new RetryingDriver(
    driver,
    busyLimitMs === undefined ? {} : { busyLimitMs },
  );
  try {
    await retrying.batch([{ sql: "SELECT 1", args: [] }], "read");
  } catch (error) {
    await driver.close();
    throw error;
  }
  return retrying;
}

/** Lost races in a row after which the error is thrown. */
const MOST_ATTEMPTS = 100;

/**
 * Repeats a step whose write was refused because another process wrote first.
 *
 * @param attempt Reads, then writes behind a guard. `mode` says how to read:
 * after a lost race it reads from the primary, because a replica may be behind.
 * @returns The result of the attempt that won.
 * @throws What an attempt throws for any other reason.
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

/**
 * Whether a write was refused because another process wrote first.
 *
 * @param error What was thrown.
 */
export function isLostRace(error: unknown): boolean {
  return error instanceof LedgerError && error.code === "conflict";
}

/** The error of a step that saw before its write that it lost the race. */
export function lostRace(): LedgerError {
  return new LedgerError("conflict", "Another process was first");
}
