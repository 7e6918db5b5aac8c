import type { Log } from "../monitoring/logger.ts";
import { type OnProblem, problemOf, problemOver } from "./problem.ts";
import type { AlarmCheck, StandingAlarm } from "./standing_alarm.ts";

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
        this.#say(problemOver(before));
      }
      if (alarm === null) continue;
      this.#raised.set(name, alarm);
      this.#say(problemOf(alarm));
    }
  }

  #say(problem: Parameters<OnProblem>[0]): void {
    try {
      this.#tell(problem);
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
