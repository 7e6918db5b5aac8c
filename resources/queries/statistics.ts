import type { Ledger } from "../../ledger/mod.ts";
import {
  readStatistics,
  type Statistics,
  STATISTICS_STEPS,
  wrongQuery,
} from "../../ledger/for_resources.ts";

/** Which statistics are wanted. */
export interface StatisticsParams {
  /** Start, ISO 8601. @default {a day before the end} */
  readonly from?: string;
  /** End, ISO 8601. @default now */
  readonly to?: string;
  /** `minute`, `ten_minutes`, `hour` or `day`, in UTC. @default hour */
  readonly step?: string;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Figures over time: answers, types, times of answers, orders that moved, lag.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {RangeError} When a parameter is wrong.
 */
export async function statistics(
  ledger: Ledger,
  { from, to, step = "hour" }: StatisticsParams,
  nowMs: number,
): Promise<Statistics> {
  const toMs = to === undefined ? nowMs : timeOf("to", to);
  const fromMs = from === undefined ? toMs - DAY_MS : timeOf("from", from);
  const known = STATISTICS_STEPS.find((one) => one === step);
  if (known === undefined) {
    throw wrongQuery("step", step, STATISTICS_STEPS.join(", "));
  }
  return await readStatistics(ledger.driver, {
    fromMs,
    toMs,
    step: known,
    nowMs,
  });
}

function timeOf(field: string, time: string): number {
  const timeMs = Date.parse(time);
  if (!Number.isNaN(timeMs)) return timeMs;
  throw wrongQuery(field, time, "a time; write it like 2026-11-20T09:00:00Z");
}
