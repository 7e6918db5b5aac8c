import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import { type Ledger, LedgerError } from "../../ledger/for_server.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";

/** How a ledger is waited for. */
export interface ReachOptions<Early> {
  /** Opens the ledger. */
  readonly open: () => Promise<Ledger>;
  /**
   * Starts what works without the ledger. Called once, when the ledger does not
   * answer.
   */
  readonly meanwhile: (problem: () => LedgerError) => Promise<Early>;
  /** What becomes of deliveries meanwhile, for the log. */
  readonly effect: string;
  /** The log. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Waits. @default {a timer} */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A ledger that is open. */
export interface ReachedLedger<Early> {
  /** The ledger. */
  readonly ledger: Ledger;
  /** What was started meanwhile; null when it was open at once. */
  readonly early: Early | null;
}

/** Waits between attempts, ms. */
const AGAIN = { firstMs: 500, longestMs: 15_000 };

/**
 * Opens the ledger. Where its server does not answer it is tried again and
 * again, as when it is lost later. Any other error is thrown at once: retrying
 * does not help against a refused token or another program's database.
 *
 * @throws {LedgerError} Any but `unreachable`.
 */
export async function reachLedger<Early extends AsyncDisposable>(
  options: ReachOptions<Early>,
): Promise<ReachedLedger<Early> | null> {
  const { open, meanwhile, effect, log, now, signal } = options;
  const { sleep = sleepFor } = options;
  const notReady = new Alarm(log, "not_ready", now);
  let early: Early | null = null;
  let problem: LedgerError;
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      const ledger = await open();
      notReady.clear();
      return { ledger, early };
    } catch (error) {
      if (!isUnreachable(error)) {
        await early?.[Symbol.asyncDispose]();
        throw error;
      }
      problem = error;
    }
    notReady.raise({ message: problem.message, effect });
    early ??= await meanwhile(() => problem);
    await sleep(backoffMs(failures, AGAIN), signal).catch(() => {});
  }
  await early?.[Symbol.asyncDispose]();
  return null;
}

function isUnreachable(error: unknown): error is LedgerError {
  return error instanceof LedgerError && error.code === "unreachable";
}
