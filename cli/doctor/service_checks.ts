import { messageOf } from "../../core/guards.ts";
import type { OnrampClient } from "../../client/mod.ts";
import { pollFailureCause } from "../../sync/for_resources.ts";
import { pollFailureAdvice } from "../../resources/wording/poll_failure.ts";
import { span } from "../../resources/wording/span.ts";
import { type Check, check } from "../../resources/health/check.ts";

/** A clock that is further off than this gets a warning, ms. */
const CLOCK_OFF_MS = 5000;

/** Beyond this the times that the service states are not believed, ms. */
const CLOCK_WRONG_MS = 120_000;

/** Asks the service: is the key good, and do our clocks agree? */
export async function serviceChecks(
  client: OnrampClient,
  now: () => number,
  signal: AbortSignal,
): Promise<Check[]> {
  const { name, baseUrl } = client.environment;
  const startedAt = now();
  try {
    const page = await client.orders.page({ limit: 0 }, { signal });
    const answeredAt = now();
    return [
      check(
        "Service",
        "ok",
        `${baseUrl} takes the key for ${name}, in ${
          span(answeredAt - startedAt)
        }`,
      ),
      clock(Date.parse(page.readAt), (startedAt + answeredAt) / 2),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [
      check(
        "Service",
        "fail",
        messageOf(error),
        pollFailureAdvice(pollFailureCause(error)),
      ),
    ];
  }
}

function clock(theirs: number, ours: number): Check {
  // The service states whole seconds.
  const off = theirs + 500 - ours;
  if (Math.abs(off) <= CLOCK_OFF_MS) {
    return check("Clock", "ok", "It agrees with the service's");
  }
  return check(
    "Clock",
    Math.abs(off) > CLOCK_WRONG_MS ? "fail" : "warn",
    `It is ${span(off)} ${off > 0 ? "behind" : "ahead of"} the service's`,
    "Let the machine keep its time by NTP",
  );
}
