import {
  ALARM_CODES,
  type ConditionCode,
  CONDITIONS,
} from "../../resources/health/conditions.ts";
import type { Finding } from "../../resources/health/finding.ts";
import { type Subject, SUBJECTS } from "../../resources/health/subjects.ts";

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
