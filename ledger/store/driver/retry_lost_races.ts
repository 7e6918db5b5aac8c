import { LedgerError } from "./errors.ts";

/** After this many lost races in a row, the error is thrown. */
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
