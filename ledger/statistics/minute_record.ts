import type { Driver } from "../store/driver/driver.ts";
import { deleteMinutesBefore, writeMinutes } from "../store/tables/minutes.ts";

/**
 * A value measured at one moment of a minute; of several the highest counts.
 */
export type MinuteGauge =
  | "lag"
  | "spooled"
  | "backlogKnown"
  | "backlogUnknown"
  | "readingAgeMs";

/** All of {@linkcode MinuteGauge}. */
const MINUTE_GAUGES: readonly MinuteGauge[] = Object.keys(
  {
    lag: true,
    spooled: true,
    backlogKnown: true,
    backlogUnknown: true,
    readingAgeMs: true,
  } satisfies Record<MinuteGauge, true>,
) as MinuteGauge[];

/** What one process did in a minute. */
export interface MinuteRecord {
  /**
   * Requests by answer (`204`, `404`, `late` for a 204 that came after the
   * service had given up): how many took how long, by the buckets of
   * `DURATION_BOUNDS`.
   */
  readonly answers: Readonly<Record<string, readonly number[]>>;
  /** Deliveries that went into the ledger, by documented type, or `other`. */
  readonly types: Readonly<Record<string, number>>;
  /** How far the work was at the end of the minute, as far as is known. */
  readonly gauges: Readonly<Partial<Record<MinuteGauge, number>>>;
}

/** Records added up, of one process or of several. */
export class MinuteSum implements MinuteRecord {
  readonly answers: Record<string, number[]> = {};
  readonly types: Record<string, number> = {};
  readonly gauges: Partial<Record<MinuteGauge, number>> = {};

  /** Adds the counts of a record, and takes the higher of each gauge. */
  add({ answers, types, gauges }: MinuteRecord): void {
    for (const answer in answers) {
      addBuckets(this.answers[answer] ??= [], answers[answer] ?? []);
    }
    for (const type in types) {
      this.types[type] = (this.types[type] ?? 0) + (types[type] ?? 0);
    }
    for (const gauge of MINUTE_GAUGES) {
      const value = gauges[gauge];
      if (value === undefined) continue;
      this.gauges[gauge] = Math.max(this.gauges[gauge] ?? value, value);
    }
  }
}

/** Adds buckets to a sum of buckets; those that are not there are empty. */
export function addBuckets(sum: number[], more: readonly number[]): void {
  for (const [index, count] of more.entries()) {
    sum[index] = (sum[index] ?? 0) + count;
  }
}

/**
 * Reads a record as it is stored. Values of another version that this one does
 * not know are left out.
 */
export function readMinute(json: string): MinuteRecord {
  const stored: Partial<Record<keyof MinuteRecord, unknown>> = Object(
    JSON.parse(json),
  );
  return {
    answers: kept(stored.answers, isBuckets),
    types: kept(stored.types, isCount),
    gauges: kept(stored.gauges, isCount),
  };
}

function kept<Value>(
  values: unknown,
  isOne: (value: unknown) => value is Value,
): Record<string, Value> {
  const all: Record<string, unknown> = Object(values);
  const read: Record<string, Value> = {};
  for (const name in all) {
    const value = all[name];
    if (isOne(value)) read[name] = value;
  }
  return read;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

function isBuckets(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isCount);
}

/** A minute in milliseconds. */
export const MINUTE_MS = 60_000;

/** How long minutes are kept: 90 days. */
export const MAX_MINUTES = 90 * 24 * 60;

/**
 * Stores minutes of a process, and deletes a few of the oldest.
 *
 * @param driver The ledger's database.
 * @param process Name of the process; no two have the same.
 * @param minutes Records by minute, counted from 1970; one that is stored
 * already is replaced.
 * @throws {LedgerError} When the database fails.
 */
export async function storeMinutes(
  driver: Driver,
  process: string,
  minutes: ReadonlyMap<number, MinuteRecord>,
): Promise<void> {
  if (minutes.size === 0) return;
  const rows = [...minutes].map(([minute, record]) =>
    [minute, JSON.stringify(record)] as const
  );
  const newest = Math.max(...minutes.keys());
  await driver.batch([
    writeMinutes(process, rows),
    deleteMinutesBefore(newest - MAX_MINUTES),
  ], "write");
}
