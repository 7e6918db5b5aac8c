import type { RetryCountdown } from "../../ledger/watchdog/retry_countdown.ts";

/**
 * When the service gives up, in both readings of its retry schedule: 8 h and
 * 15 h 05 min after the first failure.
 */
export function describeCountdown(countdown: RetryCountdown): string {
  const { offAtFromFirst, leftFromFirstMs } = countdown;
  const { offAtFromPrevious, leftFromPreviousMs } = countdown;
  return "Delivery may be off already: the service may switch it off after one " +
    `failure. After five retries it is off at ${offAtFromFirst} ` +
    `(${left(leftFromFirstMs)}) if retries count from the first failure, at ` +
    `${offAtFromPrevious} (${left(leftFromPreviousMs)}) if each counts from ` +
    "the one before";
}

/** The remaining time: `7 h 05 min left`, or that it is over. */
function left(ms: number): string {
  if (ms <= 0) return "that time is over";
  const minutes = Math.round(ms / 60_000);
  const rest = `${minutes % 60}`.padStart(2, "0");
  return `${Math.floor(minutes / 60)} h ${rest} min left`;
}
