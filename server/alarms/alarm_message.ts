import type { ConditionCode } from "../../resources/health/conditions.ts";
import type { HealthFacts } from "../../resources/health/finding.ts";
import type { Subject } from "../../resources/health/subjects.ts";
import type {
  SignedWebhook,
  WebhookBody,
  WebhookMessage,
} from "../forwarding/signed_webhook.ts";
import { overMessage } from "./problem.ts";
import type { StandingAlarm } from "./standing_alarm.ts";
import { type Driver, readSweep, writeSweep } from "../../ledger/for_sync.ts";

/** What is forwarded of an alarm. */
export interface ForwardedAlarm {
  /** Permanent id of the message; the same in every attempt. */
  readonly key: string;
  /** What was looked at: another alarm of it replaces the one before. */
  readonly subject: Subject;
  /** What is wrong, or was; docs/reference/health.md says what each means. */
  readonly code: ConditionCode;
  /** Which of several it is about, for example a receiver; else null. */
  readonly about: string | null;
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
  readonly facts: HealthFacts;
}

/** The body of a forwarded webhook about an alarm that begins, or is over. */
export interface AlarmBody extends WebhookBody<ForwardedAlarm> {
  readonly type: "rampkit.alarm.raised" | "rampkit.alarm.cleared";
}

/** The webhook about an alarm that begins, or is over. */
export type AlarmMessage = WebhookMessage<ForwardedAlarm> & AlarmBody;

/** Where alarms are sent, and in which form. */
export interface AlarmTarget {
  /** Name under which the ledger remembers what was sent; shows no secret. */
  readonly name: string;
  /** What it is called in the log; shows no secret. */
  readonly shown: string;
  /** URL that messages are posted to. */
  readonly url: URL;
  /** Makes the request of a message. */
  readonly write: (message: AlarmMessage, nowMs: number) => SignedWebhook;
  /** Whether it accepts no more alarms. @default {it always accepts them} */
  readonly isOff?: () => Promise<boolean>;
}

/** What an alarm is about, where and when. */
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

/** The webhook about an alarm that begins, or is over. */
export function alarmMessage(
  { alarm, name, clearedAt, environment, host }: AlarmMessageParts,
): AlarmMessage {
  const { subject, code, about, since, detail, next, facts } = alarm;
  const state = clearedAt === null ? "raised" : "cleared";
  const key = `alarm:${name}:${code}:${since}:${state}`;
  return {
    id: key,
    type: `rampkit.alarm.${state}`,
    timestamp: clearedAt ?? since,
    data: {
      ...{ key, subject, code, about, since, clearedAt, environment, host },
      message: clearedAt === null ? detail : overMessage(alarm),
      advice: clearedAt === null ? next : null,
      facts,
    },
  };
}

/** What a target last received of an alarm. */
export interface NotifiedAlarm {
  /** Whether it was raised or cleared. */
  readonly state: "raised" | "cleared";
  /** What was wrong. */
  readonly code: ConditionCode;
  /** Which of several it was about; else null. */
  readonly about: string | null;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** When the target accepted it, UTC ISO 8601. */
  readonly at: string;
}

/** Names an alarm of a target, under which it is stored with the ledger. */
export interface NotifiedAlarmName {
  /** Name of the target. */
  readonly target: string;
  /** Name of the alarm. */
  readonly alarm: string;
}

/** Reads what a target last received; null for nothing. */
export function readNotified(
  driver: Driver,
  name: NotifiedAlarmName,
): Promise<NotifiedAlarm | null> {
  return readSweep<NotifiedAlarm>(driver, rowOf(name));
}

/** Stores what a target received. */
export async function writeNotified(
  driver: Driver,
  name: NotifiedAlarmName,
  alarm: NotifiedAlarm,
): Promise<void> {
  const row = writeSweep(rowOf(name), alarm, Date.parse(alarm.at));
  await driver.batch([row], "write");
}

/** Alarms of machines that a target knows to stand, by their names. */
export type MachineAlarms = Readonly<Record<string, NotifiedAlarm>>;

/** Reads the alarms of machines that a target knows to stand. */
export async function readMachineAlarms(
  driver: Driver,
  target: string,
): Promise<MachineAlarms> {
  return await readSweep<MachineAlarms>(driver, `machine_alarms:${target}`) ??
    {};
}

/** Stores them. */
export async function writeMachineAlarms(
  driver: Driver,
  target: string,
  alarms: MachineAlarms,
  nowMs: number,
): Promise<void> {
  const row = writeSweep(`machine_alarms:${target}`, alarms, nowMs);
  await driver.batch([row], "write");
}

function rowOf({ target, alarm }: NotifiedAlarmName): string {
  return `alarm:${alarm}:${target}`;
}
