import { createHash } from "node:crypto";
import { CONDITIONS } from "../../resources/health/conditions.ts";
import type { SignedWebhook } from "../forwarding/signed_webhook.ts";
import type { AlarmMessage } from "./alarm_message.ts";

/** Where events are posted, unless the setting says otherwise. */
export const PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue";

/** Most characters of a summary and of a key that PagerDuty takes. */
const LONGEST = { summary: 1_024, key: 255 } as const;

/** Whose alarm it is, and who is told. */
export interface PagerdutyParts {
  /** The integration key. */
  readonly routingKey: string;
  /** Which ledger it is: two may tell the same service. */
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
export function pagerdutyEvent(
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
        runbook: `RUNBOOK.md: ${code}`,
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
