import type { Meter, MeterCounter } from "../../core/telemetry/meter.ts";
import type { PollHealth } from "../../sync/for_server.ts";
import type { SweepFailure } from "../../sync/for_resources.ts";

/** Counts failures of sweeps, and tells how long ago one last worked. */
export class PollTally {
  readonly #failures: MeterCounter;
  readonly #startedAt: string;
  #before: PollHealth | null = null;

  /**
   * Makes its instruments.
   *
   * @param meter Where they are measured.
   * @param now Clock, ms since the epoch.
   */
  constructor(meter: Meter, now: () => number) {
    this.#startedAt = new Date(now()).toISOString();
    this.#failures = meter.createCounter("rampkit.poll.failures", {
      description: "Failures of sweeps by sweep and cause",
      unit: "{failure}",
    });
    meter.createObservableGauge("rampkit.poll.success.age", {
      description: "Time since a sweep last made a step",
      unit: "s",
    }).addCallback((result) => {
      const workedAt = this.#before?.workedAt ?? null;
      if (workedAt === null) return;
      result.observe(Math.max(0, now() - Date.parse(workedAt)) / 1000);
    });
  }

  /** Takes the health of polling after each change of it. */
  take(health: PollHealth): void {
    const before = this.#before;
    this.#before = health;
    for (const failure of health.failures) {
      const { sweep, cause, attempts } = failure;
      const counted = before === null
        ? this.#countedEarlier(failure)
        : before.failures.find((one) => one.sweep === sweep)?.attempts ?? 0;
      const more = attempts - counted;
      if (more > 0) this.#failures.add(more, { sweep, cause });
    }
  }

  /** Attempts of an earlier process, which counted them. */
  #countedEarlier({ since, lastAt, attempts }: SweepFailure): number {
    if (since >= this.#startedAt) return 0;
    return lastAt >= this.#startedAt ? attempts - 1 : attempts;
  }
}
