import {
  HealthMonitor,
  type HealthMonitorOptions,
} from "../health/health_monitor.ts";
import { MACHINE } from "../health/reported_findings.ts";
import type { Log } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import type { AlarmTarget } from "./alarm_message.ts";
import { AlarmSender, type AlarmSenderParts } from "./alarm_sender.ts";
import { type OnProblem, problemOf, problemOver } from "./problem.ts";
import {
  type AlarmCheck,
  type StandingAlarm,
  StandingAlarms,
} from "./standing_alarm.ts";

/** What is watched, and where alarms are sent. */
export interface WatchHealthParts extends Omit<HealthMonitorOptions, "onLook"> {
  /** The log. */
  readonly log: Log;
  /** The metrics. */
  readonly metrics: Pick<ServiceMetrics, "conditions">;
  /**
   * Called when a problem begins and when it is over.
   *
   * @default {it is logged}
   */
  readonly onProblem?: OnProblem;
  /** Targets that alarms are sent to. @default {none} */
  readonly alarms?: Pick<AlarmSenderParts, "post"> & {
    /** Each with its own address. */
    readonly targets: readonly AlarmTarget[];
  };
}

/** Health that is watched. */
export interface WatchedHealth {
  /** Looks now and remembers. */
  readonly monitor: HealthMonitor;
  /**
   * Looks again and again, and reports to log, metrics and each target what is
   * wrong, until the signal is aborted. A target that is slow or fails holds up
   * neither the others nor anything else.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Watches the health of everything. */
export function watchHealth(parts: WatchHealthParts): WatchedHealth {
  const { ledger, log, metrics, now, alarms } = parts;
  const standing = new StandingAlarms();
  const changes = new ProblemChanges(parts.onProblem ?? problemLog(log));
  let senders: readonly AlarmSender[] = [];
  let sending: Promise<unknown> = Promise.resolve();
  const monitor = new HealthMonitor({
    ...parts,
    onLook: (findings) => {
      metrics.conditions(findings);
      const alarms = standing.take(findings, now());
      changes.take(alarms);
      sending = Promise.all(senders.map((sender) => sender.notify(alarms)));
    },
  });
  return {
    monitor,
    run: async (signal) => {
      senders = alarms?.targets.map((target) =>
        new AlarmSender({
          ...{ target, driver: ledger.driver, host: MACHINE, log, now },
          environment: ledger.environment,
          post: { ...alarms.post, signal },
        })
      ) ?? [];
      await monitor.run(signal);
      await sending;
    },
  };
}

/** Finds in each look what has begun and what is over since the one before. */
export class ProblemChanges {
  readonly #report: OnProblem;
  readonly #raised = new Map<string, StandingAlarm>();

  /** @param report Called with each of them. What it throws is ignored. */
  constructor(report: OnProblem) {
    this.#report = report;
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
      this.#report(problem);
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
