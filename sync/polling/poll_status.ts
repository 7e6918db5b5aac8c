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
import { readDeepProgress } from "./sweep_deep.ts";
import { type NewProgress, newSweepName } from "./sweep_new.ts";

const refusedIdsListed = 10;

/** Orders and users that webhooks named and that were not requested yet. */
export interface Backlog {
  /** How many orders and users. */
  readonly waiting: number;
  /** Since when the oldest waits, UTC ISO 8601; null when none does. */
  readonly oldestAt: string | null;
}

/** How far the past was read, what waits to be read, and how late it is. */
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
  /** How late the service is asked, as measured now. */
  readonly lag: PollLag;
}

/** Reads the progress of the poller; needs no lease. */
export async function readPollStatus(
  driver: Driver,
  nowMs: number = Date.now(),
): Promise<PollStatus> {
  const orders = await readSweep<NewProgress>(driver, newSweepName("order"));
  const users = await readSweep<NewProgress>(driver, newSweepName("user"));
  const { deep, allAskedSince } = await readDeepCycles(driver);
  const { backlog, isolatedIds } = await readPollBacklog(driver);
  const [observed, open] = await driver.batch(
    [countObserved, countOpenQueue],
    "read",
  );
  const of = (entity: Entity): number =>
    Number(observed?.rows.find((row) => row[0] === entity)?.[1] ?? 0);
  const [openOrders, recentlyFinal, dueMs] = open?.rows[0] ?? [];
  const lateMs = (since: number) => Math.max(0, nowMs - since);
  return {
    orders: backfillStatement("order", orders),
    users: backfillStatement("user", users),
    deep,
    counts: {
      orders: of("order"),
      users: of("user"),
      openOrders: Number(openOrders ?? 0),
      recentlyFinal: Number(recentlyFinal ?? 0),
      waiting: backlog.known.waiting + backlog.unknown.waiting,
    },
    backlog,
    isolatedIds,
    lag: {
      namedMs: backlog.known.oldestAt === null
        ? 0
        : lateMs(Date.parse(backlog.known.oldestAt)),
      openMs: typeof dueMs === "number" ? lateMs(dueMs) : 0,
      allAskedSince,
    },
  };
}

/**
 * Reads how often the whole past was read, and when the last whole cycle began: one
 * is finished once orders and users have both been read.
 */
export async function readDeepCycles(
  driver: Driver,
): Promise<Pick<PollStatus, "deep"> & Pick<PollLag, "allAskedSince">> {
  const orders = await readDeepProgress(driver, "order");
  const users = await readDeepProgress(driver, "user");
  const cycles = Math.min(orders.cycles, users.cycles);
  if (orders.finishedAt === null || users.finishedAt === null) {
    const deep = { cycles, finishedAt: null, lastCycleMs: null };
    return { deep, allAskedSince: null };
  }
  const beganMs = [orders, users].map(({ finishedAt, lastCycleMs }) =>
    Date.parse(finishedAt ?? "") - (lastCycleMs ?? 0)
  );
  return {
    deep: {
      cycles,
      finishedAt: orders.finishedAt > users.finishedAt
        ? orders.finishedAt
        : users.finishedAt,
      lastCycleMs: (orders.lastCycleMs ?? 0) + (users.lastCycleMs ?? 0),
    },
    allAskedSince: isoTime(Math.min(...beganMs)),
  };
}

/** What waits for a confirming read, and what is set aside. */
type PollBacklog = Pick<PollStatus, "backlog" | "isolatedIds">;

/**
 * Reads only what waits for a confirming read, and what is set aside: the rest
 * of {@linkcode readPollStatus} counts every open order.
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
    count: Number(row[1]),
    oldestMs: Number(row[2]),
  }));
  const backlog = (known: boolean): Backlog => {
    const some = groups.filter((group) => group.known === known);
    const oldestMs = Math.min(...some.map((group) => group.oldestMs));
    return {
      waiting: some.reduce((sum, group) => sum + group.count, 0),
      oldestAt: some.length === 0 ? null : new Date(oldestMs).toISOString(),
    };
  };
  return {
    backlog: { known: backlog(true), unknown: backlog(false) },
    isolatedIds: {
      count: Number(refused?.rows[0]?.[0] ?? 0),
      ids: isolatedIdsOf(oldest),
    },
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

/** States how far the past has been read, and whether that is proven. */
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

/** How much there is to look after. */
export interface WorkCounts {
  /** Orders the service has shown. */
  readonly orders: number;
  /** Users the service has shown. */
  readonly users: number;
  /** Orders that are not final, or contested. */
  readonly openOrders: number;
  /** Orders that lately became final and are read again a few times. */
  readonly recentlyFinal: number;
  /** Orders and users waiting for a confirming read. */
  readonly waiting: number;
}

/** How late the service is asked about orders and users that it has shown. */
export interface PollLag {
  /** How long what a webhook named has waited to be asked for, at most, in ms. */
  readonly namedMs: number;
  /**
   * How long ago the order was due that has been due longest among those that may
   * still change, or lately became final, in ms.
   */
  readonly openMs: number;
  /**
   * Every order and user of then was asked for since, UTC ISO 8601; null before
   * the whole past was read once more.
   */
  readonly allAskedSince: string | null;
}
