import type { OnrampClient } from "../../client/mod.ts";
import { messageOf } from "../logger.ts";
import { type Check, check, span } from "./check.ts";

/** A clock that is further off than this is worth a word, ms. */
const CLOCK_OFF_MS = 5000;

/** Asks the service: is the key good, and do our clocks agree? */
export async function serviceChecks(
  client: OnrampClient,
  now: () => number,
  signal: AbortSignal,
): Promise<Check[]> {
  const { name, baseUrl } = client.environment;
  const asked = now();
  try {
    const page = await client.orders.page({ limit: 0 }, { signal });
    const answered = now();
    return [
      check(
        "Service",
        "ok",
        `${baseUrl} takes the key for ${name}, in ${span(answered - asked)}`,
      ),
      clock(Date.parse(page.readAt), (asked + answered) / 2),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [
      check(
        "Service",
        "fail",
        messageOf(error),
        "Keys of sandbox and production are not interchangeable; " +
          "check the key, the environment and the network",
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
    "warn",
    `It is ${span(off)} ${off > 0 ? "behind" : "ahead of"} the service's`,
    "Let the machine keep its time by NTP",
  );
}
