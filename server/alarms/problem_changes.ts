import type { Finding } from "../../resources/health/finding.ts";
import type { Log } from "../monitoring/logger.ts";
import type { AlarmCheck, StandingAlarm } from "./standing_alarm.ts";

/** A problem that stands, or that it is over. */
export interface Problem
  extends Pick<Finding, "subject" | "code" | "about" | "level" | "next"> {
  /** `fine` once it is over. */
  readonly level: Finding["level"];
  /** When it began, UTC ISO 8601. */
  readonly since: string;
  /** What was found, in one sentence. */
  readonly message: string;
  /** Figures and words behind it. */
  readonly facts: Finding["facts"];
}

/** Hears of each problem once when it begins, and once when it is over. */
export type OnProblem = (problem: Problem) => void;

/** Finds in each look what has begun and what is over since the one before. */
export class ProblemChanges {
  readonly #tell: OnProblem;
  readonly #raised = new Map<string, StandingAlarm>();

  /** @param tell Hears of them. What it throws is dropped. */
  constructor(tell: OnProblem) {
    this.#tell = tell;
  }

  /** Takes in what stands. */
  take(look: AlarmCheck): void {
    for (const [name, alarm] of look) {
      const before = this.#raised.get(name);
      if (before?.code === alarm?.code) continue;
      if (before !== undefined) {
        this.#raised.delete(name);
        this.#say({ ...before, level: "fine", next: null });
      }
      if (alarm === null) continue;
      this.#raised.set(name, alarm);
      this.#say(alarm);
    }
  }

  #say({ detail, ...alarm }: StandingAlarm): void {
    try {
      this.#tell({ ...alarm, message: detail });
    } catch {
      // Whoever listens must not stop what watches.
    }
  }
}

/** Writes problems into the log. */
export function problemLog(log: Log): OnProblem {
  return ({ subject, code, about, since, level, message, next, facts }) => {
    const which = { subject, code, about, since };
    if (level === "fine") log("info", "alarm_cleared", which);
    else {
      log("error", "alarm_raised", { ...which, message, advice: next, facts });
    }
  };
}
