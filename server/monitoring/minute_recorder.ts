import { DURATION_BOUNDS } from "../../core/telemetry/meter.ts";
import { SENDER_TIMEOUT_MS } from "../../core/waiting/retry_delay.ts";
import { sleep } from "../../core/waiting/sleep.ts";
import {
  addBuckets,
  MINUTE_MS,
  type MinuteGauge,
  type MinuteRecord,
  MinuteSum,
  storeMinutes,
} from "../../ledger/for_resources.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type {
  Measured,
  PrometheusMetrics,
} from "./prometheus/prometheus_metrics.ts";

/** What a {@linkcode MinuteRecorder} works with. */
export interface MinuteRecorderOptions {
  /** What the instruments of the process have measured. */
  readonly metrics: Pick<PrometheusMetrics, "read">;
  /** Stores minutes; what it throws is tried again with the next minute. */
  readonly store: (
    minutes: ReadonlyMap<number, MinuteRecord>,
  ) => Promise<void>;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Waits. @default sleep */
  readonly sleep?: typeof sleep;
}

/** Minutes that wait for a database that does not take them, at most. */
const MOST_WAITING = 120;

/**
 * Stores once a minute what was answered and received since. It reads what the
 * instruments have counted anyway, so no request pays for it.
 */
export class MinuteRecorder {
  readonly #options: MinuteRecorderOptions;
  /** What instruments had counted when they were last read. */
  readonly #counted = new Map<string, ReadonlyMap<string, readonly number[]>>();
  #waiting = new Map<number, MinuteSum>();

  /** @param options What to work with. */
  constructor(options: MinuteRecorderOptions) {
    this.#options = options;
  }

  /** Stores a minute after each, until it is stopped; then what is left. */
  async run(signal: AbortSignal): Promise<void> {
    const { now, sleep: wait = sleep } = this.#options;
    while (!signal.aborted) {
      const minute = Math.floor(now() / MINUTE_MS);
      await wait((minute + 1) * MINUTE_MS - now(), signal).catch(() => {});
      await this.take(minute);
    }
  }

  /**
   * Stores what was measured since the last call.
   *
   * @param minute The minute that it was in, counted from 1970.
   */
  async take(minute: number): Promise<void> {
    const sum = this.#waiting.get(minute) ?? new MinuteSum();
    sum.add(this.#measured());
    this.#waiting.set(minute, sum);
    try {
      await this.#options.store(this.#waiting);
    } catch {
      // What is wrong with the database is reported elsewhere.
      for (const oldest of this.#waiting.keys()) {
        if (this.#waiting.size <= MOST_WAITING) return;
        this.#waiting.delete(oldest);
      }
      return;
    }
    // The same minute may be stored once more, when the process ends.
    this.#waiting = new Map([[minute, sum]]);
  }

  #measured(): MinuteRecord {
    const types: Record<string, number> = {};
    for (
      const [type, [more = 0]] of this.#since("rampkit.webhook.bodies", "type")
    ) {
      const name = isOther(type) ? "other" : type;
      if (more > 0) types[name] = (types[name] ?? 0) + more;
    }
    const answers: Record<string, readonly number[]> = {};
    for (
      const [answer, more] of this.#since(
        "rampkit.webhook.answer.duration",
        "answer",
      )
    ) {
      const inTime = answer === "204" ? more.slice(0, LATE_FROM) : more;
      if (inTime.some(isPositive)) answers[answer] = trimmed(inTime);
      const late = more.slice(inTime.length);
      if (late.some(isPositive)) {
        answers.late = trimmed([...inTime.map(() => 0), ...late]);
      }
    }
    return { answers, types, gauges: this.#gauges() };
  }

  #gauges(): MinuteRecord["gauges"] {
    const gauges: Partial<Record<MinuteGauge, number>> = {};
    for (const [gauge, { name, is = () => true, scale = 1 }] of GAUGES) {
      const found = this.#options.metrics.read(name).find(is);
      const value = found?.values[0];
      if (value !== undefined) gauges[gauge] = Math.round(value * scale);
    }
    return gauges;
  }

  /** What instruments counted since this was last asked, by a label. */
  #since(name: string, label: string): Map<string, readonly number[]> {
    const counted = new Map<string, number[]>();
    for (const { labels, values } of this.#options.metrics.read(name)) {
      const key = String(labels[label]);
      const sum = counted.get(key) ?? [];
      addBuckets(sum, values);
      counted.set(key, sum);
    }
    const before = this.#counted.get(name);
    this.#counted.set(name, counted);
    return new Map(
      [...counted].map(([key, values]) => {
        const earlier = before?.get(key) ?? [];
        return [key, values.map((value, at) => value - (earlier[at] ?? 0))];
      }),
    );
  }
}

/** What is recorded of a running process. */
export interface RecordedProcess {
  /** The open ledger. */
  readonly ledger: Pick<Ledger, "driver">;
  /** What its instruments measure. */
  readonly metrics: Pick<PrometheusMetrics, "read">;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/**
 * Records the minutes of this process until it is disposed of: before the
 * ledger is closed, and after all that is measured has ended.
 */
export function recordMinutes(
  { ledger, metrics, now }: RecordedProcess,
): AsyncDisposable {
  // A process id comes back, in a container at each start.
  const process = crypto.randomUUID().slice(0, 8);
  const recorder = new MinuteRecorder({
    metrics,
    store: (minutes) => storeMinutes(ledger.driver, process, minutes),
    now,
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  return {
    [Symbol.asyncDispose]: () => {
      stop.abort();
      return running;
    },
  };
}

/** The first bucket of answers that came after the service had given up. */
const LATE_FROM = DURATION_BOUNDS.indexOf(SENDER_TIMEOUT_MS / 1000) + 1;

/** The instrument of each gauge. */
const GAUGES: readonly (readonly [MinuteGauge, {
  readonly name: string;
  readonly is?: (one: Measured) => boolean;
  readonly scale?: number;
}])[] = Object.entries(
  {
    lag: { name: "rampkit.ledger.lag" },
    spooled: { name: "rampkit.webhook.spool.depth" },
    backlogKnown: {
      name: "rampkit.poll.backlog",
      is: ({ labels }: Measured) => labels.known === true,
    },
    backlogUnknown: {
      name: "rampkit.poll.backlog",
      is: ({ labels }: Measured) => labels.known === false,
    },
    readingAgeMs: { name: "rampkit.poll.success.age", scale: 1000 },
  } satisfies Record<MinuteGauge, unknown>,
) as [MinuteGauge, { readonly name: string }][];

/** Bodies that are not a JSON object are of no documented type either. */
function isOther(type: string): boolean {
  return type === "quarantined";
}

function isPositive(count: number): boolean {
  return count > 0;
}

/** Without the empty buckets at the end. */
function trimmed(buckets: readonly number[]): readonly number[] {
  const last = buckets.findLastIndex(isPositive);
  return buckets.slice(0, last + 1);
}
