import type { WatchedChange } from "../../ledger/for_sync.ts";
import {
  ATTEMPTS_FROM_FIRST_MS,
  ATTEMPTS_FROM_PREVIOUS_MS,
} from "../../core/waiting/retry_delay.ts";

/** A webhook may come so long before the service shows its change, in ms. */
const aheadMs = 60_000;

/** A time in which the watchdog did not look, because nothing ran here. */
export interface Pause {
  /** When it looked last before, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** When it looked again, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/**
 * When the webhook of a change should have come: after the grace. Where nothing
 * ran here when the order changed, the service's attempts failed until then: a
 * webhook that has not come is due the grace after the next attempt, by the
 * later reading of the schedule.
 *
 * @param change The change.
 * @param graceMs How long a webhook may take, in milliseconds.
 * @param pauses Times in which nothing ran here.
 * @returns Milliseconds since the epoch.
 */
export function webhookDueMs(
  { movedAt, announced }: Pick<WatchedChange, "movedAt" | "announced">,
  graceMs: number,
  pauses: readonly Pause[],
): number {
  const movedMs = Date.parse(movedAt);
  const pause = announced
    ? undefined
    : pauses.find(({ fromMs, untilMs }) =>
      movedMs >= fromMs - aheadMs && movedMs <= untilMs
    );
  if (pause === undefined) return movedMs + graceMs;
  const awayMs = pause.untilMs - movedMs;
  const nextMs = [ATTEMPTS_FROM_FIRST_MS, ATTEMPTS_FROM_PREVIOUS_MS].map(
    (attempts) => attempts.find((ms) => ms > awayMs) ?? 0,
  );
  return movedMs + Math.max(...nextMs) + graceMs;
}
