import type {
  AlarmArea,
  AlarmCheck,
  StandingAlarm,
} from "../../resources/health/standing_alarm.ts";

/** Looks in a row that have to agree before anybody is told. */
const LOOKS = 2;

/** What the latest looks at an area found. */
interface Found {
  readonly found: StandingAlarm | null;
  readonly looks: number;
}

/**
 * Debounces looks: an alarm, or its end, counts once two looks in a row agree,
 * so that what comes and goes wakes nobody. As long as it lasts an alarm keeps
 * the time when it began.
 */
export class DebouncedCheck {
  readonly #latest = new Map<AlarmArea, Found>();
  readonly #debounced = new Map<AlarmArea, StandingAlarm | null>();

  /** Takes in a look, and gives what may be told after it. */
  take(look: AlarmCheck): AlarmCheck {
    for (const [area, found] of look) {
      const before = this.#latest.get(area);
      const same = before !== undefined && before.found?.code === found?.code;
      const latest: Found = same
        ? { found: earlier(before.found, found), looks: before.looks + 1 }
        : { found, looks: 1 };
      this.#latest.set(area, latest);
      if (latest.looks >= LOOKS) this.#debounced.set(area, latest.found);
    }
    return this.#debounced;
  }
}

/** The later look, with the earlier beginning. */
function earlier(
  before: StandingAlarm | null,
  now: StandingAlarm | null,
): StandingAlarm | null {
  if (before === null || now === null || before.since > now.since) return now;
  return { ...now, since: before.since };
}
