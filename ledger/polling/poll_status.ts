import { DEFAULT_PERIODS, DEFAULT_RULES } from "./settings.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  countConfirms,
  countOpenQueue,
} from "../store/tables/polling/request_queues.ts";
import { countObserved } from "../store/tables/polling/observations.ts";
import type { Entity } from "../entity.ts";
import {
  type IsolatedId,
  isolatedIdsOf,
  selectRefused,
} from "../store/tables/polling/isolated_ids.ts";
import {
  type BackfillStatement,
  backfillStatement,
} from "./backfill_statement.ts";
import { countOpenOrders } from "./requests/open_orders.ts";
import type { ShareRules } from "./fair_share.ts";
import {
  type StalenessBound,
  stalenessBound,
  type SweepPeriods,
  type WorkCounts,
} from "./staleness.ts";
import { type DeepProgress, readDeepProgress } from "./sweeps/sweep_deep.ts";
import { type NewProgress, newSweepName } from "./sweeps/sweep_new.ts";
import { readSweep } from "../store/tables/polling/sweeps.ts";

/** Refused ids that are listed. */
const refusedIdsListed = 10;

/** What webhooks named and was not requested yet. */
export interface Backlog {
  /** How many orders and users. */
  readonly waiting: number;
  /** Since when the oldest waits, UTC ISO 8601; null when none does. */
  readonly oldestAt: string | null;
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
  /** What waits for a confirming read. */
  readonly backlog: {
    /** Orders and users that the service has shown. */
    readonly known: Backlog;
    /** Those that it never showed: new ones, or invented. */
    readonly unknown: Backlog;
  };
  /** Ids that the service refuses: each is requested alone, and less often. */
  readonly setAside: {
    /** How many. */
    readonly count: number;
    /** The oldest ten of them. */
    readonly ids: readonly IsolatedId[];
  };
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
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { readPollStatus } from "@rampkit/onramp/ledger/internals";
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
  rules: ShareRules = DEFAULT_RULES,
  periods: SweepPeriods = DEFAULT_PERIODS,
): Promise<PollStatus> {
  const orders = await readSweep<NewProgress>(driver, newSweepName("order"));
  const users = await readSweep<NewProgress>(driver, newSweepName("user"));
  const deepOrders = await readDeepProgress(driver, "order");
  const deepUsers = await readDeepProgress(driver, "user");
  const { backlog, setAside } = await readPollBacklog(driver);
  const counts = await readCounts(driver, backlog, orders?.followed ?? 0);
  return {
    orders: backfillStatement("order", orders),
    users: backfillStatement("user", users),
    deep: deepCycles(deepOrders, deepUsers),
    counts,
    backlog,
    setAside,
    staleness: stalenessBound(rules, periods, counts),
  };
}

/** A cycle is finished once orders and users have both been read. */
function deepCycles(
  orders: DeepProgress,
  users: DeepProgress,
): PollStatus["deep"] {
  const cycles = Math.min(orders.cycles, users.cycles);
  if (orders.finishedAt === null || users.finishedAt === null) {
    return { cycles, finishedAt: null, lastCycleMs: null };
  }
  return {
    cycles,
    finishedAt: orders.finishedAt > users.finishedAt
      ? orders.finishedAt
      : users.finishedAt,
    lastCycleMs: (orders.lastCycleMs ?? 0) + (users.lastCycleMs ?? 0),
  };
}

/**
 * Reads only what waits for a confirming read, and what is set aside: the rest
 * of {@linkcode readPollStatus} counts every open order.
 *
 * @param driver The ledger's database.
 * @throws {LedgerError} When the database fails.
 */
export async function readPollBacklog(
  driver: Driver,
): Promise<Pick<PollStatus, "backlog" | "setAside">> {
  const [waiting, refused, oldest] = await driver.batch(
    [countConfirms, ...selectRefused(refusedIdsListed)],
    "read",
  );
  const backlog = (known: number): Backlog => {
    const row = waiting?.rows.find((row) => row[0] === known);
    return {
      waiting: Number(row?.[1] ?? 0),
      oldestAt: typeof row?.[2] === "string" ? row[2] : null,
    };
  };
  return {
    backlog: { known: backlog(1), unknown: backlog(0) },
    setAside: {
      count: Number(refused?.rows[0]?.[0] ?? 0),
      ids: isolatedIdsOf(oldest),
    },
  };
}

async function readCounts(
  driver: Driver,
  { known, unknown }: PollStatus["backlog"],
  ordersInOverlap: number,
): Promise<WorkCounts> {
  const [observed, open] = await driver.batch(
    [countObserved, countOpenQueue],
    "read",
  );
  const of = (entity: Entity): number =>
    Number(observed?.rows.find((row) => row[0] === entity)?.[1] ?? 0);
  return {
    orders: of("order"),
    users: of("user"),
    openOrders: await countOpenOrders(driver),
    openUnknown: Number(open?.rows[0]?.[0] ?? 0),
    latelyFinal: Number(open?.rows[0]?.[1] ?? 0),
    waiting: known.waiting + unknown.waiting,
    waitingUnknown: unknown.waiting,
    ordersInOverlap,
  };
}
