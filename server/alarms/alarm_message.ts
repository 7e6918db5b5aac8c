import type {
  WebhookBody,
  WebhookMessage,
} from "../forwarding/signed_webhook.ts";
import { describeAlarm } from "./alarm_words.ts";
import type {
  AlarmArea,
  AlarmCode,
  StandingAlarm,
} from "../../resources/health/standing_alarm.ts";

/** What is forwarded of an alarm. */
export interface ForwardedAlarm {
  /** Permanent id of the message; the same in every attempt. */
  readonly key: string;
  /** What it is about: an alarm of an area replaces the one before. */
  readonly area: AlarmArea;
  /** What is wrong, or was. */
  readonly code: AlarmCode;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** When it was over, UTC ISO 8601; null while it stands. */
  readonly clearedAt: string | null;
  /** `production` or `sandbox`. */
  readonly environment: string;
  /** The machine, where the alarm is about one; else null. */
  readonly host: string | null;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What to do; null once it is over. */
  readonly advice: string | null;
  /** Figures and words behind it. */
  readonly facts: StandingAlarm["facts"];
}

/**
 * The body of a forwarded webhook that tells of an alarm, or that it is over.
 */
export interface AlarmBody extends WebhookBody<ForwardedAlarm> {
  readonly type: "rampkit.alarm.raised" | "rampkit.alarm.cleared";
}

/** Of what, where and when an alarm tells. */
export interface AlarmMessageParts {
  /** The alarm. */
  readonly alarm: StandingAlarm;
  /** Name of the alarm among those of the ledger. */
  readonly name: string;
  /** When it was over, UTC ISO 8601; null while it stands. */
  readonly clearedAt: string | null;
  readonly environment: string;
  readonly host: string | null;
}

/** The webhook that tells of an alarm, or that it is over. */
export function alarmMessage(
  { alarm, name, clearedAt, environment, host }: AlarmMessageParts,
): WebhookMessage & AlarmBody {
  const { area, code, since, facts } = alarm;
  const state = clearedAt === null ? "raised" : "cleared";
  const { message, advice } = describeAlarm(alarm);
  const key = `alarm:${name}:${code}:${since}:${state}`;
  return {
    id: key,
    type: `rampkit.alarm.${state}`,
    timestamp: clearedAt ?? since,
    data: {
      ...{ key, area, code, since, clearedAt, environment, host },
      message: clearedAt === null ? message : `Over: ${message}`,
      advice: clearedAt === null ? advice : null,
      facts,
    },
  };
}
