import { createHash } from "node:crypto";
import { CONDITIONS } from "../../resources/health/conditions.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import type { GivenTarget } from "../../core/settings/settings.ts";
import type { SignedWebhook } from "../forwarding/transition_message.ts";
import { readTargetUrl } from "../forwarding/post_webhook.ts";
import type { AlarmMessage, AlarmTarget } from "./alarm_message.ts";

/** Makes the targets of a ledger. */
export type NotifyTargets = (ledgerId: string) => readonly AlarmTarget[];

/** A service that alarms are sent to, as the setting names it. */
interface Notified {
  readonly service: "slack" | "pagerduty";
  /** Its credential: an address, or a key. */
  readonly secret: string;
  readonly url: URL;
}

/**
 * Reads where alarms are sent.
 *
 * @throws {UsageError} When one is wrong. The message does not repeat
 * credentials.
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
        `Wrong ${from}: the text after pagerduty: is not an integration key ` +
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

/** An address, which may be a secret, so messages do not repeat it. */
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
  // Distinguishes two of one service, and reveals nothing that opens them.
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

/** Where events are posted, unless the setting says otherwise. */
const PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue";

/** Most characters of a summary and of a key that PagerDuty takes. */
const LONGEST = { summary: 1_024, key: 255 } as const;

/** Whose alarm it is, and where it is sent. */
export interface PagerdutyParts {
  /** The integration key. */
  readonly routingKey: string;
  /** Which ledger it is: two may send to the same service. */
  readonly ledgerId: string;
}

/**
 * An alarm as an event of PagerDuty. An alarm and its end have one
 * `dedup_key`, and so does another one of the same subject that takes its place:
 * one incident of each subject is open at a time, a repeat is dropped, and the
 * end closes it.
 *
 * Source: PagerDuty's documentation, "Events API v2".
 */
function pagerdutyEvent(
  { data }: AlarmMessage,
  { routingKey, ledgerId }: PagerdutyParts,
): SignedWebhook {
  const { subject, code, about, since, clearedAt, environment, host } = data;
  const of = {
    routing_key: routingKey,
    dedup_key: dedupKey(["rampkit", ledgerId, subject, about, host]),
  };
  const event = clearedAt !== null ? { ...of, event_action: "resolve" } : {
    ...of,
    event_action: "trigger",
    client: "Rampkit",
    payload: {
      summary: `${environment}: ${data.message}`.slice(0, LONGEST.summary),
      source: host ?? `rampkit ${environment}`,
      severity: CONDITIONS[code].level === "problem" ? "critical" : "warning",
      timestamp: since,
      component: subject,
      group: environment,
      class: code,
      custom_details: {
        ...data.facts,
        message: data.message,
        what_to_do: data.advice,
        ...about === null ? {} : { about },
        runbook: `docs/reference/health.md#${code}`,
      },
    },
  };
  return {
    headers: { "content-type": "application/json", "user-agent": "rampkit" },
    body: JSON.stringify(event),
  };
}

function dedupKey(parts: readonly (string | null)[]): string {
  const key = parts.filter((part) => part !== null).join(":");
  return key.length <= LONGEST.key
    ? key
    : `rampkit:${createHash("sha256").update(key).digest("hex")}`;
}

/** Most characters of a text in a block; Slack takes 3,000. */
const LONGEST_TEXT = 2_900;

/**
 * An alarm as a message of Slack, in the form of incoming webhooks: a text for
 * notifications, and blocks for the channel.
 *
 * Source: Slack's documentation, "Sending messages using incoming webhooks" and
 * "Section block".
 */
function slackMessage({ data }: AlarmMessage): SignedWebhook {
  const { code, environment, host, since, clearedAt, message, advice } = data;
  const state = clearedAt === null ? "Alarm" : "All-clear";
  const title = `${state}, ${environment}: ${message}`;
  const about = [
    code,
    `since ${since}`,
    ...clearedAt === null ? [] : [`until ${clearedAt}`],
    ...host === null ? [] : [`on ${host}`],
    "docs/reference/health.md says more",
  ];
  const texts = [
    `*${state}, ${escaped(environment)}*\n${escaped(message)}`,
    ...advice === null ? [] : [`*What to do*\n${escaped(advice)}`],
  ];
  return {
    headers: { "content-type": "application/json", "user-agent": "rampkit" },
    body: JSON.stringify({
      text: escaped(title),
      blocks: [
        ...texts.map((text) => ({ type: "section", text: mrkdwn(text) })),
        { type: "context", elements: [mrkdwn(escaped(about.join(" · ")))] },
      ],
    }),
  };
}

function mrkdwn(text: string) {
  return { type: "mrkdwn", text: text.slice(0, LONGEST_TEXT) };
}

/** Escapes what Slack would read as a link or a mention. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
