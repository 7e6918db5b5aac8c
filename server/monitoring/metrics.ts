import {
  DURATION_BOUNDS,
  type Meter,
  type MeterCounter,
  NO_METER,
} from "../../core/telemetry/meter.ts";
import {
  pollAlarm,
  type PollHealth,
  type SweepFailure,
} from "../../sync/polling/poll_health.ts";
import {
  type DeliveryHealth,
  RETRIES_FROM_FIRST_MS,
  RETRIES_FROM_PREVIOUS_MS,
} from "../../sync/watchdog/watchdog_rule.ts";
import type { Spool } from "../../webhooks/spool.ts";
import type { PollStatus } from "../../sync/polling/poll_status.ts";
import {
  CONDITIONS,
  STANDING_CODES,
} from "../../resources/health/conditions.ts";
import type { Finding } from "../../resources/health/finding.ts";
import type { PrometheusMetrics } from "./prometheus/prometheus_metrics.ts";

/** A request that the HTTP API answered. */
export interface ApiAnswer {
  /** Name of the operation in the OpenAPI document; `none` for other paths. */
  readonly operation: string;
  /** Status of the answer. */
  readonly status: number;
  /** Time from the request to the beginning of the answer, ms. */
  readonly ms: number;
}

/** Makes what counts the answers of the HTTP API. */
export function apiMeter(meter: Meter): (answer: ApiAnswer) => void {
  const duration = meter.createHistogram("rampkit.api.duration", {
    description: "Time from a request to the HTTP API to its answer",
    unit: "s",
    advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
  });
  return ({ operation, status, ms }) =>
    duration.record(ms / 1000, { operation, status });
}

/** What metrics are made of. */
interface ServiceMetricsOptions {
  /** Keeps the values. @default {nothing does} */
  readonly prometheus?: PrometheusMetrics;
  /** Steady clock, ms. @default performance.now */
  readonly now?: () => number;
  /** Clock, ms since the epoch. @default Date.now */
  readonly time?: () => number;
}

/** What `serve` and the Deploy entry measure beside the endpoint itself. */
export interface ServiceMetrics {
  /** Makes further instruments. */
  readonly meter: Meter;
  /** Measures how long a commit takes. */
  readonly timed: <Result>(commit: () => Promise<Result>) => Promise<Result>;
  /** Watches what waits in a spool. */
  readonly spool: (spool: Pick<Spool, "depth" | "oldestMs">) => void;
  /** Counts a spool file that is damaged. */
  readonly spoolDamage: () => void;
  /** Sets how many events wait to be folded. */
  readonly lag: (events: number) => void;
  /** Sets when the newest regular backup was made, ms; null without one. */
  readonly backup: (madeAt: number | null) => void;
  /** Sets what a look at everything found. */
  readonly conditions: (findings: readonly Finding[]) => void;
  /** Sets how long failing deliveries may go on. */
  readonly delivery: (health: Pick<DeliveryHealth, "countdown">) => void;
  /** Sets the health of polling. */
  readonly polling: (health: PollHealth) => void;
  /** Sets what waits for a confirming read, at a time in ms. */
  readonly backlog: (
    status: Pick<PollStatus, "backlog" | "isolatedIds">,
    nowMs: number,
  ) => void;
}

/**
 * What Prometheus collects. Each is described where it is made here.
 */
export function serviceMetrics(
  options: ServiceMetricsOptions = {},
): ServiceMetrics {
  const { now = () => performance.now(), time = Date.now } = options;
  const meter: Meter = options.prometheus ?? NO_METER;
  const commits = meter.createHistogram("rampkit.ledger.commit.duration", {
    description: "Time from handing deliveries to the ledger to their commit",
    unit: "s",
    advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
  });
  const lag = meter.createGauge("rampkit.ledger.lag", {
    description: "Events that are stored and not folded",
    unit: "{event}",
  });
  const condition = meter.createGauge("rampkit.condition", {
    description: "1 while a condition stands, by its code",
  });
  const offIn = meter.createGauge("rampkit.delivery.off.in", {
    description: "Time until the service switches delivery off, by reading",
    unit: "s",
  });
  const pollAttempts = meter.createGauge("rampkit.poll.attempts", {
    description: "Failures in a row of the sweep that fails for longest",
    unit: "{attempt}",
  });
  const pollTally = new PollTally(meter, time);
  const damaged = meter.createCounter("rampkit.webhook.spool.damaged", {
    description: "Spool files that could not be read whole",
  });
  const spoolDepth = meter.createObservableGauge(
    "rampkit.webhook.spool.depth",
    {
      description: "Deliveries that wait on the disk for the ledger",
      unit: "{delivery}",
    },
  );
  const spoolAge = meter.createObservableGauge("rampkit.webhook.spool.age", {
    description: "How long the oldest of them has been waiting",
    unit: "s",
  });
  const backlog = meter.createGauge("rampkit.poll.backlog", {
    description: "Orders and users that wait for a confirming read",
    unit: "{entity}",
  });
  const backlogAge = meter.createGauge("rampkit.poll.backlog.age", {
    description: "How long the oldest of them has been waiting",
    unit: "s",
  });
  const isolatedIds = meter.createGauge("rampkit.poll.isolated_ids", {
    description: "Ids that the service refuses",
    unit: "{id}",
  });
  let backupMadeAt: number | null = null;
  meter.createObservableGauge("rampkit.backup.age", {
    description: "Time since the newest backup was begun",
    unit: "s",
  }).addCallback((result) => {
    if (backupMadeAt === null) return;
    result.observe(Math.max(0, time() - backupMadeAt) / 1000);
  });
  return {
    meter,
    backup: (madeAt) => backupMadeAt = madeAt,
    spoolDamage: () => damaged.add(1),
    spool: (spool) => {
      spoolDepth.addCallback((result) => result.observe(spool.depth));
      spoolAge.addCallback((result) => {
        const { oldestMs } = spool;
        const ageMs = oldestMs === null ? 0 : time() - oldestMs;
        result.observe(Math.max(0, ageMs) / 1000);
      });
    },
    timed: async (commit) => {
      const begun = now();
      try {
        const result = await commit();
        commits.record((now() - begun) / 1000, { outcome: "stored" });
        return result;
      } catch (error) {
        commits.record((now() - begun) / 1000, { outcome: "failed" });
        throw error;
      }
    },
    lag: (events) => lag.record(events),
    conditions: (findings) => {
      const codes = new Set(findings.map(({ code }) => code));
      for (const code of STANDING_CODES) {
        const { subject } = CONDITIONS[code];
        condition.record(codes.has(code) ? 1 : 0, { code, subject });
      }
    },
    delivery: ({ countdown }) => {
      for (const [reading, leftMs] of readings(countdown)) {
        offIn.record(leftMs / 1000, { reading });
      }
    },
    polling: (health) => {
      pollTally.take(health);
      pollAttempts.record(pollAlarm(health)?.attempts ?? 0);
    },
    backlog: (status, nowMs) => {
      for (const [kind, part] of Object.entries(status.backlog)) {
        const attributes = { known: kind === "known" };
        const { waiting, oldestAt } = part;
        const ageMs = oldestAt === null ? 0 : nowMs - Date.parse(oldestAt);
        backlog.record(waiting, attributes);
        backlogAge.record(Math.max(0, ageMs) / 1000, attributes);
      }
      isolatedIds.record(status.isolatedIds.count);
    },
  };
}

/** Time left in both readings of the retry schedule; all of it while nothing fails. */
function readings(
  countdown: DeliveryHealth["countdown"],
): readonly (readonly [string, number])[] {
  return [
    ["from_first", countdown?.leftFromFirstMs ?? RETRIES_FROM_FIRST_MS],
    [
      "from_previous",
      countdown?.leftFromPreviousMs ?? RETRIES_FROM_PREVIOUS_MS,
    ],
  ];
}

/** Counts failures of sweeps, and measures how long ago one last worked. */
export class PollTally {
  readonly #failures: MeterCounter;
  readonly #startedAt: string;
  #before: PollHealth | null = null;

  /** Makes its instruments. */
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
