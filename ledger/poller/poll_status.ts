import { DEFAULT_PERIODS, DEFAULT_RULES } from "./_settings.ts";
import type { Driver } from "../store/driver.ts";
import type { Entity } from "./observations.ts";
import { countOpenOrders } from "./open_orders.ts";
import type { BudgetRules } from "./rate_budget.ts";
import {
  type StalenessBound,
  stalenessBound,
  type SweepPeriods,
  type WorkCounts,
} from "./staleness.ts";
import { DEEP_SWEEP, type DeepProgress } from "./sweep_deep.ts";
import { type NewProgress, newSweepName } from "./sweep_new.ts";
import { readSweep } from "./sweep_store.ts";

/** How far the past has been read, and whether that is proven. */
export interface BackfillStatement {
  /** True only with proof for every second from `from` to `until`. */
  readonly complete: boolean;
  /** Why not, in one sentence; null when it is. */
  readonly why: string | null;
  /** Where the past begins, UTC ISO 8601; null before the first request. */
  readonly from: string | null;
  /** Where it ended when the walk began, UTC ISO 8601. */
  readonly until: string | null;
  /** All up to here has been walked, UTC ISO 8601. */
  readonly doneUpTo: string | null;
  /** Stretches walked without proof. */
  readonly gaps: readonly {
    /** Exclusive start, UTC ISO 8601. */
    readonly from: string;
    /** Inclusive end, UTC ISO 8601. */
    readonly until: string;
    /** Why there is no proof. */
    readonly why: string;
  }[];
}

/** Where the poller stands, from the database alone. */
export interface PollStatus {
  /** The past of the orders. */
  readonly orders: BackfillStatement;
  /** The past of the users. */
  readonly users: BackfillStatement;
  /** The sweep through the whole past. */
  readonly deep: {
    /** Cycles finished. */
    readonly cycles: number;
    /** When the last one ended, UTC ISO 8601. */
    readonly finishedAt: string | null;
    /** How long it took, in milliseconds. */
    readonly lastCycleMs: number | null;
  };
  /** How much there is to look after. */
  readonly counts: WorkCounts;
  /** How old the ledger's word can be, at worst. */
  readonly staleness: StalenessBound;
}

/**
 * Reads where the poller stands; needs no lease.
 *
 * @param driver The ledger's database.
 * @param rules Rate and shares the poller works with.
 * @param periods When its sweeps start.
 * @throws {LedgerError} When the database fails.
 *
 * @example Show the bound of staleness
 * ```ts
 * import { openLedger, readPollStatus } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const status = await readPollStatus(ledger.driver);
 * assert.equal(status.orders.complete, false);
 * assert.ok(status.staleness.anythingMs > 0);
 * ```
 */
export async function readPollStatus(
  driver: Driver,
  rules: BudgetRules = DEFAULT_RULES,
  periods: SweepPeriods = DEFAULT_PERIODS,
): Promise<PollStatus> {
  const orders = await readSweep<NewProgress>(driver, newSweepName("order"));
  const users = await readSweep<NewProgress>(driver, newSweepName("user"));
  const deep = await readSweep<DeepProgress>(driver, DEEP_SWEEP);
  const counts = await readCounts(driver, orders?.followed ?? 0);
  return {
    orders: backfillStatement("order", orders),
    users: backfillStatement("user", users),
    deep: {
      cycles: deep?.cycles ?? 0,
      finishedAt: deep?.finishedAt ?? null,
      lastCycleMs: deep?.lastCycleMs ?? null,
    },
    counts,
    staleness: stalenessBound(rules, periods, counts),
  };
}

/**
 * Says how far the past has been read, and whether that is proven.
 *
 * @param entity Orders or users.
 * @param progress Progress of the sweep for what is new; null before it began.
 */
export function backfillStatement(
  entity: Entity,
  progress: NewProgress | null,
): BackfillStatement {
  if (progress === null) {
    return {
      complete: false,
      why: `The walk through the past of the ${entity}s has not begun`,
      from: null,
      until: null,
      doneUpTo: null,
      gaps: [],
    };
  }
  const doneUpTo = isoTime(progress.walk.doneUpToMs);
  const gaps = progress.gaps.map((gap) => ({
    from: isoTime(gap.fromMs),
    until: isoTime(gap.untilMs),
    why: gap.why,
  }));
  const first = gaps[0];
  const why = progress.finishedAt === null
    ? `The walk through the past of the ${entity}s has come to ${doneUpTo}`
    : first === undefined
    ? null
    : `${first.why} (from ${first.from} to ${first.until}${
      gaps.length > 1 ? `, and ${gaps.length - 1} more` : ""
    })`;
  return {
    complete: why === null,
    why,
    from: isoTime(progress.fromMs),
    until: isoTime(progress.untilMs),
    doneUpTo,
    gaps,
  };
}

async function readCounts(
  driver: Driver,
  ordersInOverlap: number,
): Promise<WorkCounts> {
  const [observed, waiting] = await driver.batch([{
    sql: `SELECT entity, count(*) FROM observations
      WHERE found = 1 GROUP BY entity`,
    args: [],
  }, {
    sql: "SELECT count(*) FROM confirm_queue",
    args: [],
  }], "read");
  const of = (entity: Entity): number =>
    Number(observed?.rows.find((row) => row[0] === entity)?.[1] ?? 0);
  return {
    orders: of("order"),
    users: of("user"),
    openOrders: await countOpenOrders(driver),
    waiting: Number(waiting?.rows[0]?.[0] ?? 0),
    ordersInOverlap,
  };
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
