import { DEFAULT_PERIODS, DEFAULT_RULES } from "./poller_settings.ts";
import {
  countNamed,
  countObserved,
  countOpenQueue,
  type Driver,
  type Entity,
  type IsolatedId,
  isolatedIdsOf,
  readSweep,
  selectRefused,
} from "../../ledger/for_sync.ts";
import type { ShareRules } from "./fair_share.ts";
import {
  type StalenessBound,
  stalenessBound,
  type SweepPeriods,
  type WorkCounts,
} from "./staleness.ts";
import { type DeepProgress, readDeepProgress } from "./sweep_deep.ts";
import { type NewProgress, newSweepName } from "./sweep_new.ts";

/** Refused ids that are listed. */
const refusedIdsListed = 10;

/** Orders and users that webhooks named and that were not requested yet. */
export interface Backlog {
  /** How many orders and users. */
  readonly waiting: number;
  /** Since when the oldest waits, UTC ISO 8601; null when none does. */
  readonly oldestAt: string | null;
}

/**
 * How far the past was read, what waits to be read, and how old the ledger's
 * information can be.
 */
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
  readonly isolatedIds: {
    /** How many. */
    readonly count: number;
    /** The oldest ten of them. */
    readonly ids: readonly IsolatedId[];
  };
  /** How old the ledger's information can be at most. */
  readonly staleness: StalenessBound;
}

/**
 * Reads the progress of the poller; needs no lease.
 *
 * @param driver The ledger's database.
 * @param rules Rate and shares the poller works with.
 * @param periods When its sweeps start.
 * @throws {LedgerError} When the database fails.
 *
 * @example Show the bound of staleness
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { readPollStatus } from "./poll_status.ts";
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
  const waits = await readPollBacklog(driver);
  const { backlog, isolatedIds } = waits;
  const counts = await readCounts(driver, waits, orders?.followed ?? 0);
  return {
    orders: backfillStatement("order", orders),
    users: backfillStatement("user", users),
    deep: deepCycles(deepOrders, deepUsers),
    counts,
    backlog,
    isolatedIds,
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

/** What waits for a confirming read, and what is set aside. */
export interface PollBacklog
  extends
    Pick<PollStatus, "backlog" | "isolatedIds">,
    Pick<WorkCounts, "waitingUsers" | "waitingUrgent"> {}

/**
 * Reads only what waits for a confirming read, and what is set aside: the rest
 * of {@linkcode readPollStatus} counts every open order.
 *
 * @param driver The ledger's database.
 * @throws {LedgerError} When the database fails.
 */
export async function readPollBacklog(
  driver: Driver,
): Promise<PollBacklog> {
  const [waiting, refused, oldest] = await driver.batch(
    [countNamed, ...selectRefused(refusedIdsListed)],
    "read",
  );
  const groups = (waiting?.rows ?? []).map((row) => ({
    known: row[0] === 1,
    entity: row[1],
    urgent: row[2] === 1,
    count: Number(row[3]),
    oldestMs: Number(row[4]),
  }));
  const count = (some: typeof groups): number =>
    some.reduce((sum, group) => sum + group.count, 0);
  const backlog = (known: boolean): Backlog => {
    const some = groups.filter((group) => group.known === known);
    const oldestMs = Math.min(...some.map((group) => group.oldestMs));
    return {
      waiting: count(some),
      oldestAt: some.length === 0 ? null : new Date(oldestMs).toISOString(),
    };
  };
  const known = groups.filter((group) => group.known);
  return {
    waitingUsers: count(known.filter(({ entity }) => entity === "user")),
    waitingUrgent: count(
      known.filter(({ entity, urgent }) => entity === "order" && urgent),
    ),
    backlog: { known: backlog(true), unknown: backlog(false) },
    isolatedIds: {
      count: Number(refused?.rows[0]?.[0] ?? 0),
      ids: isolatedIdsOf(oldest),
    },
  };
}

async function readCounts(
  driver: Driver,
  { backlog: { known, unknown }, waitingUsers, waitingUrgent }: PollBacklog,
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
    openOrders: Number(open?.rows[0]?.[0] ?? 0),
    openUnknown: Number(open?.rows[0]?.[1] ?? 0),
    recentlyFinal: Number(open?.rows[0]?.[2] ?? 0),
    waiting: known.waiting + unknown.waiting,
    waitingUnknown: unknown.waiting,
    waitingUsers,
    waitingUrgent,
    ordersInOverlap,
  };
}

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

/**
 * States how far the past has been read, and whether that is proven.
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
    ? `The walk through the past of the ${entity}s has reached ${doneUpTo}`
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

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
