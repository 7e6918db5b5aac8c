import type { Log } from "../monitoring/logger.ts";
import type { AlarmCheck, StandingAlarm } from "./standing_alarm.ts";

/** Writes each alarm into the log once, and once that it is over. */
export class AlarmLog {
  readonly #log: Log;
  readonly #raised = new Map<string, StandingAlarm>();

  /** Has written nothing yet. */
  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes in what stands. */
  take(look: AlarmCheck): void {
    for (const [name, alarm] of look) {
      const before = this.#raised.get(name);
      if (before?.code === alarm?.code) continue;
      if (before !== undefined) {
        const { subject, code, about, since } = before;
        this.#raised.delete(name);
        this.#log("info", "alarm_cleared", { subject, code, about, since });
      }
      if (alarm === null) continue;
      const { subject, code, about, since, detail, next, facts } = alarm;
      this.#raised.set(name, alarm);
      this.#log("error", "alarm_raised", {
        ...{ subject, code, about, since },
        ...{ message: detail, advice: next, facts },
      });
    }
  }
}
