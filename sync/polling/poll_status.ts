import {
  ITEMS_PER_REQUEST,
  PLACES_FOR_OTHERS,
  POLLER_DEFAULTS,
} from "./sweep_context.ts";
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
  type Statement,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { type ShareRules, SWEEP_KINDS, type SweepKind } from "./fair_share.ts";
import { type DeepProgress, readDeepProgress } from "./sweep_deep.ts";
import { type NewProgress, newSweepName } from "./sweep_new.ts";
import { ONE_IN } from "./sweep_queue.ts";

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

/** Reads the progress of the poller; needs no lease. */
export async function readPollStatus(
  driver: Driver,
  settings: ShareRules & SweepPeriods = POLLER_DEFAULTS,
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
    staleness: stalenessBound(settings, counts),
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
interface PollBacklog
  extends
    Pick<PollStatus, "backlog" | "isolatedIds">,
    Pick<WorkCounts, "waitingUsers" | "waitingUrgent"> {}

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

/** Name under which it is kept. */
const BOUND = "poll_bound";

/** The bound of a running poller, and the figures behind it. */
export interface PollBound {
  /** Requests per second of all its sweeps together. */
  readonly requestsPerSecond: number;
  /** How much there was to look after when it last counted. */
  readonly counts: WorkCounts;
  /** How old the ledger's information can be at most. */
  readonly staleness: StalenessBound;
}

/** The statement that records the bound of a poller. */
export function writePollBound(
  requestsPerSecond: number,
  { counts, staleness }: PollStatus,
  nowMs: number,
): Statement {
  const bound: PollBound = { requestsPerSecond, counts, staleness };
  return writeSweep(BOUND, bound, nowMs);
}

/** Reads the bound of the poller that ran last; null when none ever ran. */
export async function readPollBound(driver: Driver): Promise<PollBound | null> {
  return await readSweep<PollBound>(driver, BOUND);
}

/** How much there is to look after. */
export interface WorkCounts {
  /** Orders the service has shown. */
  readonly orders: number;
  /** Users the service has shown. */
  readonly users: number;
  /** Orders that are not final, or contested. */
  readonly openOrders: number;
  /** Of these, the ones that the service has never shown. */
  readonly openUnknown: number;
  /** Orders that lately became final and are read again a few times. */
  readonly recentlyFinal: number;
  /** Orders and users waiting for a confirming read. */
  readonly waiting: number;
  /** Of these, the ones that the service has never shown. */
  readonly waitingUnknown: number;
  /** Users that the service has shown and that wait. */
  readonly waitingUsers: number;
  /**
   * Orders that the service has shown and that a webhook was the first to claim
   * a status: they are not delayed by a pause, and come first.
   */
  readonly waitingUrgent: number;
  /** Orders created within the overlap of the new sweep. */
  readonly ordersInOverlap: number;
}

/** When sweeps start, whatever the rate. */
export interface SweepPeriods {
  /** Pause between two looks for new orders, in milliseconds. */
  readonly followEveryMs: number;
  /** Pause between two looks into the queue of webhooks, in milliseconds. */
  readonly confirmEveryMs: number;
  /** Shortest time between two confirming reads of the same id, in ms. */
  readonly confirmAtLeastMs: number;
  /** Pause between two looks for open orders that are due, in milliseconds. */
  readonly openEveryMs: number;
  /** Shortest time between two requests of the same open order, in ms. */
  readonly openAtLeastMs: number;
  /** Pause between two cycles of the deep sweep, in milliseconds. */
  readonly deepCycleAtLeastMs: number;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
}

/**
 * How old the ledger's information can be at most while the service answers,
 * all in milliseconds. The bounds assume that every sweep uses its guaranteed
 * share; with idle sweeps it is less.
 */
export interface StalenessBound {
  /** From an order's creation to the ledger knowing it. */
  readonly newOrderMs: number;
  /**
   * From the first webhook that claims a status of an order to the confirming
   * read, of orders that the service has shown. While the rate is not used up it
   * is one request, or up to a second more where another process folds.
   */
  readonly firstClaimMs: number;
  /**
   * From any other webhook to the confirming read, of orders and users that the
   * service has shown: invented ids do not lengthen it. An order that only a
   * webhook has named so far is shown within `newOrderMs`. Repeated webhooks
   * for the same one, with nothing changed, lengthen it by ten minutes.
   */
  readonly namedByWebhookMs: number;
  /** From a change of a fresh open order to the ledger knowing it. */
  readonly openOrderMs: number;
  /**
   * How much later than 10 min, 1 h, 6 h, 1 day and 3 days after an order became
   * final it is read again: a payment that was taken back is found then.
   */
  readonly recentlyFinalMs: number;
  /** From a change of any order or user, however old, to the ledger knowing it. */
  readonly anythingMs: number;
}

/**
 * Computes how stale the ledger can be from rate, shares and counts.
 *
 * Each sweep is one queue served at its guaranteed rate: what arrives just
 * after a round began waits for that round and the next.
 */
export function stalenessBound(
  settings: ShareRules & SweepPeriods,
  counts: WorkCounts,
): StalenessBound {
  const parts = SWEEP_KINDS.reduce(
    (sum, kind) => sum + settings.shares[kind],
    0,
  );
  const takesMs = (kind: SweepKind, requests: number): number =>
    Math.ceil(
      requests * 1000 * parts /
        (settings.requestsPerSecond * settings.shares[kind]),
    );
  // A walk ends on an empty page, and users are walked beside the orders.
  const follow = takesMs("new", pages(counts.ordersInOverlap) + 1 + 2);
  // Unknown ids take at most one request in four while known ones wait, and
  // users one in four while orders wait.
  const shared = ONE_IN / (ONE_IN - 1);
  const { waitingUsers, waitingUrgent } = counts;
  const others = counts.waiting - counts.waitingUnknown - waitingUsers -
    waitingUrgent;
  const urgent = pages(waitingUrgent) * shared;
  const named = Math.max(
    urgent + Math.ceil(others / PLACES_FOR_OTHERS) * shared,
    pages(waitingUsers) * ONE_IN,
  );
  const first = takesMs("confirm", urgent * shared);
  const confirm = takesMs("confirm", named * shared);
  const shown = counts.openOrders - counts.openUnknown + counts.recentlyFinal;
  const open = takesMs("open", pages(shown) * 2 * shared);
  const deep = takesMs("deep", deepRequests(counts, settings.itemsPerWindow));
  return {
    newOrderMs: settings.followEveryMs + 2 * follow,
    firstClaimMs: settings.confirmEveryMs + 2 * first,
    namedByWebhookMs: settings.confirmAtLeastMs + settings.confirmEveryMs +
      2 * confirm,
    recentlyFinalMs: settings.openEveryMs + 2 * open,
    openOrderMs: settings.openAtLeastMs + settings.openEveryMs + 2 * open,
    // What is created during a cycle is read at the end of the next.
    anythingMs: settings.deepCycleAtLeastMs + 2 * deep,
  };
}

/** Requests of one whole cycle of the deep sweep. */
function deepRequests(counts: WorkCounts, itemsPerWindow: number): number {
  const windows = (items: number): number =>
    Math.max(1, Math.ceil(4 * items / itemsPerWindow));
  const walk = (items: number): number => pages(items) + 2 * windows(items);
  return walk(counts.orders) + walk(counts.users);
}

function pages(items: number): number {
  return Math.max(1, Math.ceil(items / ITEMS_PER_REQUEST));
}
