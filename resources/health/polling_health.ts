import {
  type Driver,
  isPolled,
  readSweep,
  writeSweep,
} from "../../ledger/for_sync.ts";
import {
  lastAnsweredAt,
  pollAlarm,
  readPollHealth,
  type SweepFailure,
} from "../../sync/polling/poll_health.ts";
import {
  describePollFailure,
  pollFailureAdvice,
} from "../wording/poll_failure.ts";
import { span } from "../wording/phrases.ts";
import { type Finding, found } from "./finding.ts";
import { LIMITS } from "./limits.ts";

/**
 * Whether the service is asked and answers. The poller may run in another
 * process or not at all.
 */
export async function lookAtPolling(
  driver: Driver,
  nowMs: number,
  stuck: SweepFailure | null = null,
): Promise<readonly Finding[]> {
  const health = await readPollHealth(driver);
  const failure = pollAlarm(health) ??
    health.failures.find(({ nextAttemptAt }) => nextAttemptAt === null) ?? null;
  if (failure !== null) return [failureFinding(failure)];
  const answeredAt = await lastAnsweredAt(driver, health);
  const agoMs = answeredAt === null ? null : nowMs - Date.parse(answeredAt);
  const isFresh = agoMs !== null && Math.abs(agoMs) <= LIMITS.pollerSilentMs;
  // Of several processes another may have taken over.
  if (stuck !== null && !isFresh) return [failureFinding(stuck)];
  const isAtWork = await isPolled(driver);
  const ranAt = isAtWork || isFresh ? null : await cronRanAt(driver);
  if (ranAt !== null && nowMs - Date.parse(ranAt) > LIMITS.cronSilentMs) {
    return [found("cron_silent", {
      since: ranAt,
      more: `the last one ran ${span(nowMs - Date.parse(ranAt))} ago`,
    })];
  }
  if (agoMs === null) {
    return [found("polling_not_begun", {
      ...isAtWork && { next: "A poller has begun; look again in a minute" },
    })];
  }
  // A time in the future is none.
  if (agoMs < -LIMITS.pollerSilentMs) return [found("poll_clock_set_back")];
  const heard = {
    more: `the last answer was ${span(Math.max(0, agoMs))} ago`,
    facts: { answeredAt },
  };
  if (isAtWork) {
    return [
      isFresh
        ? found("polling_works", heard)
        : found("poll_stalled", { ...heard, since: answeredAt }),
    ];
  }
  return [
    agoMs > LIMITS.answerOldMs
      ? found("polling_idle", { ...heard, since: answeredAt })
      : found("polling_works", heard),
  ];
}

function failureFinding(failure: SweepFailure): Finding {
  const { sweep, attempts, since, cause, status } = failure;
  return found(cause === "stalled" ? "poll_stalled" : "poll_failing", {
    since,
    more: describePollFailure(failure),
    next: pollFailureAdvice(cause),
    facts: { sweep, attempts, cause, status },
  });
}

const CRON = "cron";

async function cronRanAt(driver: Driver): Promise<string | null> {
  return (await readSweep<{ readonly at: string }>(driver, CRON))?.at ?? null;
}

/** Keeps that a cron runs now. */
export async function keepCronRun(
  driver: Driver,
  nowMs: number,
  which: "any" | "first" = "any",
): Promise<void> {
  if (which === "first" && await cronRanAt(driver) !== null) return;
  const at = new Date(nowMs).toISOString();
  await driver.batch([writeSweep(CRON, { at }, nowMs)], "write");
}
