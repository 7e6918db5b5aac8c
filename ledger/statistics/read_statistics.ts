import { wrongQuery } from "../store/tables/query_values.ts";
import type { Driver } from "../store/driver/driver.ts";
import { selectMinutes } from "../store/tables/minutes.ts";
import {
  countChangesBy,
  KEEP_CHANGES_MS,
} from "../store/tables/polling/observed_changes.ts";
import {
  addBuckets,
  MINUTE_MS,
  type MinuteGauge,
  MinuteSum,
  readMinute,
} from "./minute_record.ts";
import { DURATION_BOUNDS } from "../../core/telemetry/meter.ts";

/** The steps: their length in ms, and the characters of a time that name one. */
const STEPS = {
  minute: { ms: MINUTE_MS, characters: 16 },
  ten_minutes: { ms: 10 * MINUTE_MS, characters: 15 },
  hour: { ms: 60 * MINUTE_MS, characters: 13 },
  day: { ms: 24 * 60 * MINUTE_MS, characters: 10 },
} as const;

/** Length of a step of statistics, in UTC. */
export type StatisticsStep = keyof typeof STEPS;

/** Every step, the shortest first. */
export const STATISTICS_STEPS = Object.keys(STEPS) as StatisticsStep[];

/** Most steps of one query: 90 days by the hour, and a few more. */
const MOST_STEPS = 2500;

/** Minutes read at once. */
const PAGE_ROWS = 2000;

/** Answers whose time counts: those to deliveries that were taken, or failed. */
const TIMED: readonly string[] = ["204", "late", "503"];

/** Which statistics to read. */
export interface StatisticsQuery {
  /** Start, in milliseconds since the epoch; of the step that it lies in. */
  readonly fromMs: number;
  /** End, in milliseconds since the epoch; the step that it lies in is whole. */
  readonly toMs: number;
  /** Length of a step, in UTC. */
  readonly step: StatisticsStep;
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** What happened in one step. */
export interface StatisticsPoint {
  /** Its first moment, UTC ISO 8601. */
  readonly at: string;
  /** Processes that wrote in it; 0 is a time of which nothing is known. */
  readonly processes: number;
  /**
   * Requests to the endpoint by answer; `late` is a 204 that came after the
   * service had given up.
   */
  readonly answers: Readonly<Record<string, number>>;
  /** Deliveries that went into the ledger, by documented type, or `other`. */
  readonly types: Readonly<Record<string, number>>;
  /** Deliveries that went into the ledger. */
  readonly received: number;
  /**
   * Changes of status that the service showed of orders, by the time of the
   * change; null for what is no longer kept, after three days.
   */
  readonly ordersMoved: number | null;
  /** How long half of the deliveries waited for their answer at most, in ms. */
  readonly p50Ms: number | null;
  /** How long 99 of 100 waited at most, in ms. */
  readonly p99Ms: number | null;
  /** Events that were not folded yet: the most of the step. */
  readonly lag: number | null;
  /** Deliveries that waited in a spool: the most of the step. */
  readonly spooled: number | null;
  /** Known orders and users that waited for a confirming read, at most. */
  readonly backlogKnown: number | null;
  /** Those that the service never showed. */
  readonly backlogUnknown: number | null;
  /** Age of the last reading of the service, in ms: the most of the step. */
  readonly readingAgeMs: number | null;
}

/** Figures over time, for plots. */
export interface Statistics {
  /** First moment of the first step, UTC ISO 8601. */
  readonly from: string;
  /** End of the last step, UTC ISO 8601. */
  readonly to: string;
  /** Length of a step. */
  readonly step: StatisticsStep;
  /** Every step, by time. */
  readonly points: readonly StatisticsPoint[];
}

/** What the processes of a step wrote. */
interface StepSum {
  readonly processes: Set<string>;
  readonly sum: MinuteSum;
}

/**
 * Reads figures over time: what was answered and how fast, what was received by
 * type, how many orders moved, and how far the work was. It reads the minutes
 * that `serve` writes and an index by time, whatever the size of the ledger.
 *
 * @param driver The ledger's database.
 * @throws {RangeError} When the window is empty or has too many steps.
 * @throws {LedgerError} When the database fails.
 *
 * @example The last day, by the hour
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { readStatistics } from "./read_statistics.ts";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const nowMs = Date.parse("2026-11-20T12:00:00Z");
 * const { points } = await readStatistics(ledger.driver, {
 *   fromMs: nowMs - 24 * 3_600_000,
 *   toMs: nowMs,
 *   step: "hour",
 *   nowMs,
 * });
 * assert.equal(points.length, 24);
 * ```
 */
export async function readStatistics(
  driver: Driver,
  { fromMs, toMs, step, nowMs }: StatisticsQuery,
): Promise<Statistics> {
  const { ms: stepMs, characters } = STEPS[step];
  const first = Math.floor(fromMs / stepMs);
  const end = Math.ceil(toMs / stepMs);
  if (!(end > first)) {
    throw wrongQuery("to", iso(toMs), "later than the start of the window");
  }
  if (end - first > MOST_STEPS) {
    throw wrongQuery(
      "step",
      step,
      `long enough: the window has ${end - first} of them, and at most ` +
        `${MOST_STEPS} are read`,
    );
  }
  const window = { from: iso(first * stepMs), to: iso(end * stepMs) };
  const sums = await readSums(driver, first, end, stepMs);
  const [moved] = await driver.batch(
    [countChangesBy(characters, window)],
    "read",
  );
  const movedIn = new Map(
    moved?.rows.map(([name, count]) => [String(name), Number(count)]),
  );
  const points: StatisticsPoint[] = [];
  for (let at = first; at < end; at++) {
    const atMs = at * stepMs;
    const isKept = atMs >= nowMs - KEEP_CHANGES_MS;
    const ordersMoved = isKept
      ? movedIn.get(iso(atMs).slice(0, characters)) ?? 0
      : null;
    points.push(pointOf(iso(atMs), sums.get(at), ordersMoved));
  }
  return { ...window, step, points };
}

async function readSums(
  driver: Driver,
  first: number,
  end: number,
  stepMs: number,
): Promise<ReadonlyMap<number, StepSum>> {
  const perStep = stepMs / MINUTE_MS;
  const sums = new Map<number, StepSum>();
  // No process has the empty name, so every row of the first minute is after.
  let after = { minute: first * perStep, process: "" };
  for (;;) {
    const [page] = await driver.batch(
      [selectMinutes(after, end * perStep, PAGE_ROWS)],
      "read",
    );
    const rows = page?.rows ?? [];
    for (const [minute, process, record] of rows) {
      after = { minute: Number(minute), process: String(process) };
      const at = Math.floor(after.minute / perStep);
      let step = sums.get(at);
      if (step === undefined) {
        step = { processes: new Set(), sum: new MinuteSum() };
        sums.set(at, step);
      }
      step.processes.add(after.process);
      step.sum.add(readMinute(String(record)));
    }
    if (rows.length < PAGE_ROWS) return sums;
  }
}

function pointOf(
  at: string,
  step: StepSum | undefined,
  ordersMoved: number | null,
): StatisticsPoint {
  const { answers, types, gauges } = step?.sum ?? new MinuteSum();
  const timed: number[] = [];
  for (const answer of TIMED) addBuckets(timed, answers[answer] ?? []);
  const gauge = (name: MinuteGauge): number | null => gauges[name] ?? null;
  return {
    at,
    processes: step?.processes.size ?? 0,
    answers: Object.fromEntries(
      Object.entries(answers).map(([answer, times]) => [answer, total(times)]),
    ),
    types,
    received: total(Object.values(types)),
    ordersMoved,
    p50Ms: quantileMs(timed, 0.5),
    p99Ms: quantileMs(timed, 0.99),
    lag: gauge("lag"),
    spooled: gauge("spooled"),
    backlogKnown: gauge("backlogKnown"),
    backlogUnknown: gauge("backlogUnknown"),
    readingAgeMs: gauge("readingAgeMs"),
  };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/**
 * Estimates how long the fastest share of requests took at most, from buckets:
 * within a bucket times are taken to be spread evenly.
 *
 * @param buckets How many took how long, by the buckets of `DURATION_BOUNDS`.
 * @param share From 0 to 1: 0.99 for p99.
 * @returns Milliseconds; the highest bound for what took longer than all of
 * them. Null without requests.
 */
export function quantileMs(
  buckets: readonly number[],
  share: number,
): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = share * total;
  let passed = 0;
  for (const [index, count] of buckets.entries()) {
    if (passed + count >= wanted && count > 0) {
      const upper = boundMs(index);
      const lower = index === 0 ? 0 : boundMs(index - 1);
      const within = Math.max(0, wanted - passed) / count;
      return Math.round((lower + (upper - lower) * within) * 100) / 100;
    }
    passed += count;
  }
  return boundMs(buckets.length);
}

function boundMs(index: number): number {
  return (DURATION_BOUNDS[index] ?? DURATION_BOUNDS.at(-1) ?? 0) * 1000;
}
