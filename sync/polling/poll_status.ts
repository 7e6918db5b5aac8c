import {
  countNamed,
  countObserved,
  countOpenQueue,
  type Driver,
  ENTITIES,
  type Entity,
  type IsolatedId,
  isolatedIdsOf,
  isPolled,
  selectFreshness,
  selectRefused,
} from "../../ledger/for_sync.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/service_time.ts";
import { pollAlarm, readPollHealth } from "./poll_health.ts";
import {
  type NewProgress,
  readDeepProgress,
  readNewProgress,
} from "./sweep_created.ts";

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

/** Reads the progress of the poller; needs no lease. */
export async function readPollStatus(
  driver: Driver,
  nowMs: number = Date.now(),
): Promise<PollStatus> {
  const orders = await readNewProgress(driver, "order");
  const users = await readNewProgress(driver, "user");
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
  const { known, unknown } = backlog;
  return {
    orders: backfillStatement("order", orders),
    users: backfillStatement("user", users),
    deep,
    counts: {
      orders: of("order"),
      users: of("user"),
      openOrders: Number(openOrders ?? 0),
      recentlyFinal: Number(recentlyFinal ?? 0),
      waiting: known.waiting + unknown.waiting,
    },
    backlog,
    isolatedIds,
    lag: {
      namedMs: known.oldestAt === null ? 0 : lateMs(Date.parse(known.oldestAt)),
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
  const both = await Promise.all(
    ENTITIES.map((entity) => readDeepProgress(driver, entity)),
  );
  const cycles = Math.min(...both.map((one) => one.cycles));
  const ended = both.map(({ finishedAt, lastCycleMs }) => ({
    endMs: Date.parse(finishedAt ?? ""),
    tookMs: lastCycleMs ?? 0,
  }));
  if (ended.some(({ endMs }) => Number.isNaN(endMs))) {
    const deep = { cycles, finishedAt: null, lastCycleMs: null };
    return { deep, allAskedSince: null };
  }
  const began = ended.map(({ endMs, tookMs }) => endMs - tookMs);
  return {
    deep: {
      cycles,
      finishedAt: isoTime(Math.max(...ended.map(({ endMs }) => endMs))),
      lastCycleMs: ended.reduce((sum, { tookMs }) => sum + tookMs, 0),
    },
    allAskedSince: isoTime(Math.min(...began)),
  };
}

const REFUSED_IDS_LISTED = 10;

/**
 * Reads only what waits for a confirming read, and what is set aside: the rest
 * of {@linkcode readPollStatus} counts every open order.
 */
export async function readPollBacklog(
  driver: Driver,
): Promise<Pick<PollStatus, "backlog" | "isolatedIds">> {
  const [waiting, refused] = await driver.batch(
    [countNamed, selectRefused(REFUSED_IDS_LISTED)],
    "read",
  );
  const backlog = (isKnown: boolean): Backlog => {
    const some = (waiting?.rows ?? []).filter(([known]) =>
      (known === 1) === isKnown
    );
    return {
      waiting: some.reduce((sum, [, count]) => sum + Number(count), 0),
      oldestAt: some.length === 0
        ? null
        : isoTime(Math.min(...some.map(([, , dueMs]) => Number(dueMs)))),
    };
  };
  return {
    backlog: { known: backlog(true), unknown: backlog(false) },
    isolatedIds: {
      count: Number(refused?.rows[0]?.[7] ?? 0),
      ids: isolatedIdsOf(refused),
    },
  };
}

/** States how far the past has been read, and whether that is proven. */
export function backfillStatement(
  entity: Entity,
  progress: NewProgress | null,
): BackfillStatement {
  if (progress === null) {
    const why = `The walk through the past of the ${entity}s has not begun`;
    const nowhere = { from: null, until: null, doneUpTo: null };
    return { complete: false, why, ...nowhere, gaps: [] };
  }
  const doneUpTo = isoTime(progress.walk.doneUpToMs);
  const gaps = progress.gaps.map(({ fromMs, untilMs, why }) => ({
    from: isoTime(fromMs),
    until: isoTime(untilMs),
    why,
  }));
  const [first, ...others] = gaps;
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  const why = progress.finishedAt === null
    ? `The walk through the past of the ${entity}s has reached ${doneUpTo}`
    : first === undefined
    ? null
    : `${first.why} (from ${first.from} to ${first.until}${more})`;
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

/**
 * Why the service is asked again for an order or user, the soonest first.
 *
 * - `named`: a webhook named it, and it waits for a confirming read.
 * - `open`: an order that may still change.
 * - `recently_final`: an order that became final in the last three days.
 * - `deep`: it is read again with the whole past.
 */
export type FreshnessTier = "named" | "open" | "recently_final" | "deep";

/**
 * Why what the service said last may be old.
 *
 * - `never_observed`: the service has not shown it, so webhooks are all there is.
 * - `not_polled`: no poller runs.
 * - `polling_fails`: a poller runs, and its requests fail.
 * - `behind`: it should have been asked for again by now, as after an outage.
 */
export type FreshnessDoubt =
  | "never_observed"
  | "not_polled"
  | "polling_fails"
  | "behind";

/** How fresh the ledger's information about an order or user is. */
export interface Freshness {
  /** When the service was last asked for it, UTC ISO 8601; null is never. */
  readonly requestedAt: string | null;
  /** Why it is asked for again. */
  readonly tier: FreshnessTier;
  /** When it is due to be asked for again; null where the cycle decides. */
  readonly nextAt: string | null;
  /** Why its last answer may be old; null while it is asked for in time. */
  readonly doubt: FreshnessDoubt | null;
}

/** What is known of when one order or user is asked for. */
export interface RequestTimes {
  /** When it was last asked for, UTC ISO 8601; null is never. */
  readonly requestedAt: string | null;
  /** Whether the service showed it then. */
  readonly wasObserved: boolean;
  /** When it is due among the orders that are asked for again, in epoch ms. */
  readonly openDueAtMs: number | null;
  /** Since when it is final, where that is why it is among them, in epoch ms. */
  readonly finalAtMs: number | null;
  /** When it is due because a webhook named it, in epoch ms. */
  readonly namedDueAtMs: number | null;
}

/** How the poller does. */
export interface Polling {
  /** Why it does nothing; null while it works. */
  readonly doubt: "not_polled" | "polling_fails" | null;
  /** When the last whole cycle through the past began, UTC ISO 8601; or null. */
  readonly allAskedSince: string | null;
}

/** Later than this is late: a sweep looks for what is due within the minute. */
const LATE_MS = 5 * 60_000;

/** How fresh what is known of an order or user is. */
export function freshnessOf(
  times: RequestTimes,
  polling: Polling,
  nowMs: number,
): Freshness {
  const { requestedAt, openDueAtMs, finalAtMs, namedDueAtMs } = times;
  const tier: FreshnessTier = namedDueAtMs !== null
    ? "named"
    : openDueAtMs === null
    ? "deep"
    : finalAtMs === null
    ? "open"
    : "recently_final";
  const nextMs = Math.min(namedDueAtMs ?? Infinity, openDueAtMs ?? Infinity);
  const nextAt = nextMs === Infinity ? null : isoTime(nextMs);
  return { requestedAt, tier, nextAt, doubt: doubtOf() };

  function doubtOf(): FreshnessDoubt | null {
    if (requestedAt === null || !times.wasObserved) return "never_observed";
    if (polling.doubt !== null) return polling.doubt;
    const askedMs = Date.parse(requestedAt);
    // A time in the future was written before our clock was set back.
    const isAhead = askedMs > nowMs + CLOCK_TOLERANCE_MS;
    const isLate = nextMs === Infinity
      ? askedMs < Date.parse(polling.allAskedSince ?? requestedAt)
      : nowMs > nextMs + LATE_MS;
    return isAhead || isLate ? "behind" : null;
  }
}

/**
 * Reads how fresh the ledger's information about an order or user is.
 *
 * @param driver The ledger's database.
 * @param entity Which kind.
 * @param id Which one.
 * @param nowMs The time, in milliseconds since the epoch. @default {Date.now()}
 * @throws {LedgerError} When the database fails.
 *
 * @example An order that nobody knows
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { readFreshness } from "@rampkit/onramp/sync";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const { doubt } = await readFreshness(ledger.driver, "order", "01ORDER");
 * assert.equal(doubt, "never_observed");
 * ```
 */
export async function readFreshness(
  driver: Driver,
  entity: Entity,
  id: string,
  nowMs: number = Date.now(),
): Promise<Freshness> {
  const [rows] = await driver.batch([selectFreshness(entity, id)], "read");
  const [requestedAt, found, ...due] = rows?.rows[0] ?? [];
  const [openDueAtMs = null, finalAtMs = null, namedDueAtMs = null] = due.map(
    (ms) => typeof ms === "number" ? ms : null,
  );
  const { allAskedSince } = await readDeepCycles(driver);
  const doubt = !await isPolled(driver)
    ? "not_polled"
    : pollAlarm(await readPollHealth(driver)) === null
    ? null
    : "polling_fails";
  return freshnessOf(
    {
      requestedAt: typeof requestedAt === "string" ? requestedAt : null,
      wasObserved: found === 1,
      ...{ openDueAtMs, finalAtMs, namedDueAtMs },
    },
    { doubt, allAskedSince },
    nowMs,
  );
}
