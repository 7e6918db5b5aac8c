import type { Ledger } from "../../ledger/mod.ts";
import { readPollHealth } from "../../sync/mod.ts";
import { isPolled } from "../../ledger/for_sync.ts";
import { lastAnsweredAt, pollAlarm } from "../../sync/for_resources.ts";
import {
  describePollFailure,
  pollFailureAdvice,
} from "../wording/poll_failure.ts";
import { span } from "../wording/span.ts";
import { type Check, check } from "./check.ts";

/** A poller at work asks at least every 15 seconds; beyond this it is stuck, ms. */
const STUCK_MS = 180_000;

/** Without a poller at work, readings older than this get a warning, ms. */
const OLD_MS = 3_600_000;

const NAME = "Polling";

/** Checks the poller, which may run in another process or not at all. */
export async function pollingCheck(
  ledger: Ledger,
  now: () => number,
): Promise<Check> {
  const health = await readPollHealth(ledger.driver);
  const failure = pollAlarm(health) ??
    health.failures.find(({ nextAttemptAt }) => nextAttemptAt === null) ?? null;
  if (failure !== null) {
    return check(
      NAME,
      "fail",
      describePollFailure(failure),
      pollFailureAdvice(failure.cause),
    );
  }
  const polled = await isPolled(ledger.driver);
  const answeredAt = await lastAnsweredAt(ledger.driver, health);
  const agoMs = answeredAt === null ? null : now() - Date.parse(answeredAt);
  // A time in the future is none: the clock was set back since.
  if (agoMs === null || agoMs < -STUCK_MS) {
    const detail = agoMs === null
      ? "The service has not been read yet"
      : "The last answer of the service lies in the future: a clock was set back";
    return check(
      NAME,
      "warn",
      detail,
      !polled
        ? "Start `serve` with an API key, or: rampkit poll --once"
        : "A poller has begun; look again in a minute",
    );
  }
  const detail = `The service last answered ${span(agoMs)} ago`;
  if (polled) {
    return agoMs > STUCK_MS
      ? check(
        NAME,
        "fail",
        `${detail}, and a poller runs`,
        pollFailureAdvice("stalled"),
      )
      : check(NAME, "ok", detail);
  }
  return agoMs > OLD_MS
    ? check(
      NAME,
      "warn",
      `${detail}, and no poller runs`,
      "Start `serve` with an API key, or: rampkit poll --once",
    )
    : check(NAME, "ok", detail);
}
