import type { Ledger, Stats } from "../../ledger/mod.ts";
import {
  type ChainHead,
  readStatistics,
  type Statistics,
  STATISTICS_STEPS,
  wrongQuery,
} from "../../ledger/for_resources.ts";
import type { ChainBreak, ChainState } from "../../ledger/types.ts";
import { describeChainBreak } from "../wording/damage_reason.ts";

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

/** Why the chain is not extended, in words and as data. */
export interface ChainBreakJson {
  /** Why the chain is not extended, in one sentence; null when it is. */
  readonly broken: string | null;
  /** The same as a code with its data. */
  readonly reason: ChainBreak | null;
}

/** How far the evidence chain reaches: what to keep elsewhere. */
export type ChainStateJson = ChainHead & ChainBreakJson;

/** How far the evidence chain reaches, with a sentence. */
export function chainStateJson(state: ChainState): ChainStateJson {
  return { ...state, ...breakJson(state.broken) };
}

/** How much the ledger holds, and how far it is folded and chained. */
export interface LedgerStatsJson extends Omit<Stats, "chain"> {
  /** Its environment. */
  readonly environment: string;
  /** Its evidence chain. */
  readonly chain: Omit<Stats["chain"], "broken"> & ChainBreakJson;
}

/** How much the ledger holds, as `ledger stats --json` prints it. */
export async function ledgerStatsJson(
  ledger: Ledger,
): Promise<LedgerStatsJson> {
  const { environment } = ledger;
  const stats = await ledger.stats();
  const { chain } = stats;
  return {
    environment,
    ...stats,
    chain: { ...chain, ...breakJson(chain.broken) },
  };
}

function breakJson(reason: ChainBreak | null): ChainBreakJson {
  const broken = reason === null ? null : describeChainBreak(reason);
  return { broken, reason };
}
