import type { SignedWebhook } from "../forwarding/signed_webhook.ts";
import type { AlarmMessage } from "./alarm_message.ts";

/** Most characters of a text in a block; Slack takes 3,000. */
const LONGEST_TEXT = 2_900;

/**
 * An alarm as a message of Slack, in the form of incoming webhooks: a text for
 * notifications, and blocks for the channel.
 *
 * Source: Slack's documentation, "Sending messages using incoming webhooks" and
 * "Section block".
 */
export function slackMessage({ data }: AlarmMessage): SignedWebhook {
  const { code, environment, host, since, clearedAt, message, advice } = data;
  const state = clearedAt === null ? "Alarm" : "All-clear";
  const title = `${state}, ${environment}: ${message}`;
  const about = [
    code,
    `since ${since}`,
    ...clearedAt === null ? [] : [`until ${clearedAt}`],
    ...host === null ? [] : [`on ${host}`],
    "RUNBOOK.md says more",
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

/** What Slack would read as a link or a mention is shown as it is. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
