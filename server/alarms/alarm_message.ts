import {
  ALARM_CODES,
  type ConditionCode,
  CONDITIONS,
  type Subject,
  SUBJECTS,
} from "../../resources/health/conditions.ts";
import type { Finding, HealthFacts } from "../../resources/health/finding.ts";
import type {
  SignedWebhook,
  WebhookBody,
  WebhookMessage,
} from "../forwarding/transition_message.ts";
import { type Driver, readSweep, writeSweep } from "../../ledger/for_sync.ts";

/**
 * Something a person should know about a running program, or that it is over.
 */
export interface Problem {
  /**
   * What was checked, one word; null when a part of the program reports itself.
   */
  readonly subject: string | null;
  /** What it is, one word; docs/reference/health.md says what each means. */
  readonly code: string;
  /** Which of several it is about, for example a handler; else null. */
  readonly about: string | null;
  /** `fine` says that it is over, or is there for information only. */
  readonly level: "problem" | "warning" | "fine";
  /** Since when, UTC ISO 8601; null where that is not known. */
  readonly since: string | null;
  /** What is wrong, in one sentence. Never a secret. */
  readonly message: string;
  /** What to do; null where there is nothing to do. */
  readonly next: string | null;
  /** Figures and words behind it; never a secret, never a person. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** What a handler of yours threw, with its stack; else absent. */
  readonly error?: unknown;
}

/** Called once when a problem begins, and once when it is over. */
export type OnProblem = (problem: Problem) => void;

/** What was found, as it is reported to a person. */
export function problemOf({ level, detail, ...finding }: Finding): Problem {
  return {
    ...finding,
    level: level === "skipped" ? "fine" : level,
    message: detail,
  };
}

/** The same once it is over. */
export function problemOver(finding: Finding): Problem {
  const message = overMessage(finding);
  return { ...problemOf(finding), level: "fine", message, next: null };
}

/** One sentence that says that it is over. */
function overMessage({ detail }: Pick<Finding, "detail">): string {
  return `Over: ${detail}`;
}

/** A problem that stands, since a time. */
export interface StandingAlarm extends Finding {
  readonly since: string;
}

/**
 * What is wrong by the names of alarms: of each name one stands at a time, or
 * none. What could not be looked at is left out.
 */
export type AlarmCheck = ReadonlyMap<string, StandingAlarm | null>;

/** Where one of these stands, it is the alarm, and what follows from it is not. */
const CAUSES: readonly {
  readonly causes: readonly ConditionCode[];
  readonly effects: readonly ConditionCode[];
  /** Whether an effect has another cause all the same. */
  readonly unless?: (effect: Finding) => boolean;
}[] = [
  {
    causes: ["disk_full"],
    effects: ["ledger_refuses", "deliveries_refused", "backup_failing"],
  },
  {
    causes: ["disk_full", "ledger_refuses", "deliveries_refused"],
    effects: ["deliveries_waiting", "events_not_folded", "poll_stalled"],
  },
  {
    causes: ["disk_full", "ledger_refuses", "deliveries_refused"],
    effects: ["poll_failing"],
    unless: ({ facts }) => facts.cause !== "ledger",
  },
  {
    causes: ["ledger_replaced"],
    effects: ["ledger_refuses", "deliveries_waiting", "events_not_folded"],
  },
];

/** Whether a finding follows from another one, which is told in its place. */
function isEffect(one: Finding, codes: ReadonlySet<ConditionCode>): boolean {
  return CAUSES.some(({ causes, effects, unless }) =>
    effects.includes(one.code) && !unless?.(one) &&
    causes.some((cause) => codes.has(cause))
  );
}

/** Looks in a row that have to agree before an alarm is sent. */
const LOOKS = 2;

/** What the latest looks found under a name. */
interface Seen {
  readonly alarm: StandingAlarm | null;
  readonly looks: number;
}

/**
 * Turns looks into alarms: a problem, or its end, counts once two looks in a
 * row agree, so that a short disturbance wakes nobody. As long as it lasts an
 * alarm keeps the time when it began.
 */
export class StandingAlarms {
  readonly #latest = new Map<string, Seen>();
  readonly #standing = new Map<string, StandingAlarm | null>();

  /** Takes in a look, and gives what may be sent after it. */
  take(findings: readonly Finding[], nowMs: number): AlarmCheck {
    for (const [name, alarm] of this.#namesOf(findings, nowMs)) {
      const before = this.#latest.get(name);
      const isSame = before !== undefined && before.alarm?.code === alarm?.code;
      const seen: Seen = isSame
        ? { alarm: earlier(before.alarm, alarm), looks: before.looks + 1 }
        : { alarm, looks: 1 };
      this.#latest.set(name, seen);
      const patienceMs = alarm === null
        ? 0
        : CONDITIONS[alarm.code].alarmAfterMs ?? 0;
      const stoodMs = nowMs - Date.parse(seen.alarm?.since ?? "");
      if (seen.looks >= LOOKS && !(stoodMs < patienceMs)) {
        this.#standing.set(name, seen.alarm);
      }
    }
    return this.#standing;
  }

  /**
   * What a look says of each name. One of what was not looked at keeps its alarm,
   * and so does one that follows from another alarm.
   */
  #namesOf(findings: readonly Finding[], nowMs: number): AlarmCheck {
    const here = findings.filter((one) => !isElsewhere(one));
    const codes = new Set(here.map(({ code }) => code));
    const known = findings.filter((one) =>
      one.code !== "not_looked_at" && !isEffect(one, codes)
    );
    const subjects = new Set<string>(known.map(({ subject }) => subject));
    const all = new Map<string, StandingAlarm | null>();
    for (const name of [...subjects, ...this.#latest.keys()]) {
      if (subjects.has(subjectOf(name))) all.set(name, null);
    }
    for (const one of known) {
      const name = nameOf(one);
      if (!ALARM_CODES.includes(one.code) || isElsewhere(one)) {
        all.set(name, all.get(name) ?? null);
      } else if ((all.get(name) ?? null) === null) {
        const since = one.since ?? new Date(nowMs).toISOString();
        all.set(name, { ...one, since });
      }
    }
    return all;
  }
}

/** Whether another machine reported it, which raises the alarm itself. */
function isElsewhere({ subject, facts }: Finding): boolean {
  return isLocal(subject) && facts.reportedBy !== undefined;
}

/** Whether each machine has its own alarm of a name. */
export function isLocal(name: string): boolean {
  return SUBJECTS[subjectOf(name)].isLocal === true;
}

function nameOf({ subject, about }: Finding): string {
  return about === null ? subject : `${subject}:${about}`;
}

function subjectOf(name: string): Subject {
  return name.split(":", 1)[0] as Subject;
}

/** The later look, with the earlier beginning. */
function earlier(
  before: StandingAlarm | null,
  now: StandingAlarm | null,
): StandingAlarm | null {
  if (before === null || now === null || before.since > now.since) return now;
  return { ...now, since: before.since };
}

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
interface AlarmMessageParts {
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
interface NotifiedAlarmName {
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
type MachineAlarms = Readonly<Record<string, NotifiedAlarm>>;

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
