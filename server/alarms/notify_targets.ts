import { createHash } from "node:crypto";
import type { Config } from "../../settings/config.ts";
import { UsageError } from "../../settings/errors.ts";
import type { GivenTarget } from "../../settings/settings.ts";
import { readTargetUrl } from "../forwarding/target_address.ts";
import type { AlarmTarget } from "./alarm_message.ts";
import { PAGERDUTY_URL, pagerdutyEvent } from "./pagerduty_event.ts";
import { slackMessage } from "./slack_message.ts";

/** Makes the targets of a ledger. */
export type NotifyTargets = (ledgerId: string) => readonly AlarmTarget[];

/** A service that is told of alarms, as the setting names it. */
interface Notified {
  readonly service: "slack" | "pagerduty";
  /** What opens it: an address, or a key. */
  readonly secret: string;
  readonly url: URL;
}

/**
 * Reads who is told of alarms.
 *
 * @returns What makes their targets; none where nobody is told.
 * @throws {UsageError} When one is wrong. What may open a service is not
 * repeated.
 */
export function readNotify({ notify }: Pick<Config, "notify">): NotifyTargets {
  const all = notify.map(readOne);
  for (const [at, { service, secret }] of all.entries()) {
    if (all.findIndex((one) => one.secret === secret) === at) continue;
    throw new UsageError(
      `Wrong ${notify[at]?.from}: one ${service} target is named twice`,
    );
  }
  return (ledgerId) => all.map((one) => targetOf(one, ledgerId));
}

function readOne({ from, text }: GivenTarget): Notified {
  const [, service, rest = ""] = /^([a-z]+):(.*)$/is.exec(text) ?? [];
  if (service === "slack") {
    const url = address(rest, { from, service });
    return { service, secret: url.href, url };
  }
  if (service === "pagerduty") {
    const [secret = "", given = PAGERDUTY_URL, ...more] = rest.split(/\s+/);
    if (!/^[\w+-]{20,64}$/.test(secret) || more.length > 0) {
      throw new UsageError(
        `Wrong ${from}: what stands behind pagerduty: is no integration key ` +
          "of Events API v2; write pagerduty:KEY, and behind it the address " +
          "of another region where yours is not the default",
      );
    }
    const url = address(given, { from, service });
    return { service, secret, url };
  }
  throw new UsageError(
    `Wrong ${from}: a target begins with neither slack: nor pagerduty:`,
  );
}

/** An address, which may be a secret: nothing of it is repeated. */
function address(
  text: string,
  { from, service }: { readonly from: string; readonly service: string },
): URL {
  try {
    return readTargetUrl(text, from);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(
      `Wrong ${from}: the address of ${service}: is none that messages may be ` +
        "sent to; write the https address that the service gave you",
    );
  }
}

function targetOf(
  { service, secret, url }: Notified,
  ledgerId: string,
): AlarmTarget {
  // Tells two of one service apart, and says nothing of what opens them.
  const digest = createHash("sha256").update(secret).digest("hex").slice(0, 8);
  const name = `${service}:${digest}`;
  return {
    name,
    shown: name,
    url,
    write: service === "slack"
      ? slackMessage
      : (message) => pagerdutyEvent(message, { routingKey: secret, ledgerId }),
  };
}
