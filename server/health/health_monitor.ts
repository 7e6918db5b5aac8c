import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import { isPolled } from "../../ledger/for_sync.ts";
import type { Finding } from "../../resources/health/finding.ts";
import { SUBJECTS } from "../../resources/health/subjects.ts";
import { lookAround, type LookAroundOptions } from "./look_around.ts";
import { FindingsReport } from "./reported_findings.ts";

/** What a monitor watches. */
export interface HealthMonitorOptions
  extends Omit<LookAroundOptions, "nowMs" | "watchdog" | "own"> {
  /** What this process knows of itself. */
  readonly own: () => Promise<readonly Finding[]>;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Called with each look of {@linkcode HealthMonitor.run}. */
  readonly onLook: (findings: readonly Finding[]) => void;
  /** Waits. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Pause between two looks, ms. */
const LOOK_EVERY_MS = 15_000;

/**
 * Checks the health of everything again and again, and remembers the latest
 * look.
 */
export class HealthMonitor {
  readonly #options: HealthMonitorOptions;
  readonly #report: FindingsReport;
  #latest: readonly Finding[] = [];
  #own: readonly Finding[] = [];

  /** Looks at nothing yet. */
  constructor(options: HealthMonitorOptions) {
    this.#options = options;
    this.#report = new FindingsReport(options.ledger.driver);
  }

  /** What the latest look found; nothing before the first. */
  get latest(): readonly Finding[] {
    return this.#latest;
  }

  /** Looks now, and reports nothing. Never rejects. */
  async look(): Promise<readonly Finding[]> {
    const { ledger, now } = this.#options;
    this.#latest = await lookAround({
      ...this.#options,
      own: async () => this.#own = await this.#options.own(),
      nowMs: now(),
      // Only a poller keeps how far the watchdog has looked.
      watchdog: await isPolled(ledger.driver).catch(() => false),
    });
    return this.#latest;
  }

  /** Looks until the signal is aborted, and reports each look. */
  async run(signal: AbortSignal): Promise<void> {
    const { now, onLook, sleep = sleepFor } = this.#options;
    while (!signal.aborted) {
      const findings = await this.look();
      onLook(findings);
      const ofThisMachine = findings.filter(({ subject, facts }) =>
        SUBJECTS[subject].isLocal && facts.reportedBy === undefined
      );
      await this.#report.take(this.#own, now(), ofThisMachine);
      await sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
    await this.#report.take([], now());
  }
}
