import { defined } from "../../core/guards.ts";
import {
  type Completeness,
  type IncompleteReason,
  type IncompleteWalk,
  type Order,
  type OrdersQuery,
  type Page,
  rowsOn,
  type User,
  type UsersQuery,
  type UsersWalkQuery,
} from "../../core/wire/objects.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import {
  latestPlausible,
  pastBeginsMs,
  readServiceTime,
} from "../../core/time/service_time.ts";

/** A walk over pages, as far as the poller needs one. */
export interface PollWalk<T> {
  /** The pages, each requested when the one before was taken. */
  pages(): AsyncIterable<Page<T>>;
  /** What was read, and whether that is all; speaks of the last walk. */
  readonly completeness: Completeness;
}

/** How to walk. */
export interface PollWalkOptions {
  /** Ends the walk. */
  readonly signal?: AbortSignal;
  /** Whether to walk in both directions and compare. */
  readonly prove?: boolean;
  /** How long after its creation an item may still appear, in ms. */
  readonly settleMs?: number;
}

/** One of the service's lists. */
export interface PollList<Query, WalkQuery, Row> {
  /** One page. */
  page(
    query?: Query,
    options?: Pick<PollWalkOptions, "signal">,
  ): Promise<Page<Row>>;
  /** All pages, with proof on request; of users the oldest first. */
  list(query?: WalkQuery, options?: PollWalkOptions): PollWalk<Row>;
}

/** What the poller needs of the client: `OnrampClient` fits. */
export interface PollClient {
  /** Reading orders. */
  readonly orders: PollList<OrdersQuery, OrdersQuery, Order>;
  /** Reading users. */
  readonly users: PollList<UsersQuery, UsersWalkQuery, User>;
}

/**
 * An error of the client: the service failed a call, or was not reached.
 *
 * The ledger knows the client by this shape alone, so that any client that
 * reports its failures in this form can be used.
 */
export interface ServiceFailure extends Error {
  /** Code of what went wrong, to branch on. */
  readonly code: string;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
}

/** Distinguishes a failure of the service from an error of our own. */
export function isServiceFailure(error: unknown): error is ServiceFailure {
  return error instanceof Error && "status" in error && "code" in error &&
    "retryable" in error && typeof error.retryable === "boolean";
}

/**
 * Whether the service may fail because of what was requested. A wrong key and
 * too many requests fail whatever is requested.
 */
export function isRefusal(error: unknown): error is ServiceFailure {
  return isServiceFailure(error) && error.code !== "unauthorized" &&
    error.code !== "rate_limited";
}

export type ListPage = Page<Order | User>;

/** What makes requests, and what ends them. */
export interface Requester {
  readonly client: PollClient;
  readonly signal?: AbortSignal;
}

export function callOptions(
  { signal }: Requester,
): { readonly signal?: AbortSignal } {
  return defined({ signal });
}

/** Lists orders or users by creation time, the oldest first. */
export function listCreated(
  requester: Requester,
  entity: Entity,
  startMs: number,
  options: Omit<PollWalkOptions, "signal"> & { readonly endMs?: number } = {},
): PollWalk<Order | User> {
  const { endMs, ...more } = options;
  const { orders, users } = requester.client;
  const how = { ...callOptions(requester), ...more };
  const start = filterTime(startMs);
  const end = endMs === undefined ? undefined : filterTime(endMs);
  if (entity === "user") {
    return users.list({ from: start, ...defined({ to: end }), limit: 20 }, how);
  }
  const window = { start_date: start, ...defined({ end_date: end }) };
  return orders.list({ ...window, order_by: "asc", limit: 20 }, how);
}

/** Where the past begins at the service, and when it said so. */
interface Past {
  readonly readAt: string;
  /**
   * Exclusive start of the past, given its end; both in milliseconds since the
   * epoch. The end itself where the service has nothing.
   */
  readonly beginsMs: (untilMs: number) => number;
}

/** Requests the oldest order or user. */
export async function requestOldest(
  requester: Requester,
  entity: Entity,
): Promise<Past> {
  const { orders, users } = requester.client;
  const query = { order_by: "asc", limit: 1 } as const;
  const page: ListPage = entity === "order"
    ? await orders.page(query, callOptions(requester))
    : await users.page(query, callOptions(requester));
  return {
    readAt: page.readAt,
    beginsMs: (untilMs) =>
      rowsOn(page) === 0
        ? untilMs
        : pastBeginsMs(page.data[0]?.created_at, untilMs),
  };
}

/** Writes a time as the filters of the Data API want it. */
export function filterTime(timeMs: number): string {
  return `${new Date(wholeSecond(timeMs)).toISOString().slice(0, 19)}Z`;
}

export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

/**
 * Work on the service in steps: yields how many requests each step made, so
 * that the scheduler can charge them and give the next turn to another sweep.
 */
export type Steps<Result = void> = AsyncGenerator<number, Result>;

/** Takes all steps at once, for callers without a scheduler. */
export async function runToEnd<Result>(
  steps: Steps<Result>,
  onRequests: (requests: number) => void = () => {},
): Promise<Result> {
  for (;;) {
    const step = await steps.next();
    if (step.done === true) return step.value;
    onRequests(step.value);
  }
}

/**
 * Takes the steps of several works one after the other, the later ones even
 * where the service failed an earlier one.
 */
export async function* allSteps(works: readonly Steps[]): Steps {
  let failure: ServiceFailure | null = null;
  for (const work of works) {
    try {
      yield* work;
    } catch (error) {
      if (!isServiceFailure(error)) throw error;
      failure ??= error;
      // The failed request is charged like any other.
      yield 1;
    }
  }
  if (failure !== null) throw failure;
}

interface RangeWalk {
  /** Where to begin or to continue: from {@linkcode wholeRange} or stored. */
  readonly from: WindowProgress;
  readonly untilMs: number;
  /** Whether to walk in both directions, to prove that nothing is missing. */
  readonly prove: boolean;
  /** How often a window is walked before its proof is given up. @default {1} */
  readonly attempts?: number;
  /**
   * Called with the result of each window, for example to store the progress.
   */
  readonly onWindow?: (walked: WalkedWindow) => unknown;
}

interface WindowOutcome {
  readonly isDense: boolean;
  /** How many it holds; null where it is dense and the service does not count. */
  readonly items: number | null;
  /** Why it is not proven that these are all; null when it is, or was not read. */
  readonly unproven: IncompleteWalk | null;
  /** Latest creation time in it, in milliseconds since the epoch, once read. */
  readonly latestCreatedMs: number | null;
}

/** Result of a window, and where the walk continues. */
export interface WalkedWindow extends WindowOutcome {
  readonly window: TimeWindow;
  readonly progress: WindowProgress;
}

/** What walks a window, and what is done with its pages. */
export interface WalkContext extends Requester {
  readonly entity: Entity;
  readonly now: () => number;
  readonly itemsPerWindow: number;
  /** Younger than this the past may still change, in milliseconds. */
  readonly settleMs: number;
  readonly onPage: PageReader;
}

/** Takes a page, and when it was requested, in ms since the epoch. */
type PageReader = (
  page: ListPage,
  requestedAtMs: number,
) => Promise<unknown>;

/**
 * Walks through a range of creation time in windows, which are cut where they
 * are dense, one request a step. Every sweep through the past, `recover()` and
 * `reconcile()` are this walk with other parameters.
 */
export async function* walkRange(
  context: WalkContext,
  { from, untilMs, prove, attempts = 1, onWindow }: RangeWalk,
): Steps {
  let progress = from;
  let attempt = 1;
  for (;;) {
    const window = nextWindow(progress, untilMs);
    if (window === null) return;
    const outcome = yield* walkWindow(context, window, prove);
    if (outcome.unproven !== null && attempt < attempts) {
      attempt += 1;
      continue;
    }
    attempt = 1;
    progress = afterWindow(progress, window, outcome, context.itemsPerWindow);
    await onWindow?.({ ...outcome, window, progress });
  }
}

/** How often a window is walked before its proof is given up. */
export const PROOF_ATTEMPTS = 3;

/**
 * Walks a range with proof as far as the service is settled at a time of its
 * clock, and without proof what is younger: it can still change.
 */
export async function* walkSettled(
  context: WalkContext,
  { fromMs, toMs, serviceMs }: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly serviceMs: number;
  },
): Steps<{ readonly untilMs: number; readonly why: IncompleteReason | null }> {
  const settledMs = Math.min(toMs, serviceMs - context.settleMs);
  const untilMs = wholeSecond(Math.max(fromMs, settledMs));
  let why: IncompleteReason | null = null;
  yield* walkRange(context, {
    from: wholeRange(fromMs, untilMs),
    untilMs,
    prove: true,
    attempts: PROOF_ATTEMPTS,
    onWindow: ({ unproven }) => void (why ??= unproven?.reason ?? null),
  });
  const from = wholeRange(untilMs, toMs);
  yield* walkRange(context, { from, untilMs: toMs, prove: false });
  return { untilMs, why };
}

/**
 * Reads every order or user created in a window, one request a step. It stops
 * when the window is dense, so that the window can be cut. Rows that were read
 * stay recorded.
 */
async function* walkWindow(
  context: WalkContext,
  window: TimeWindow,
  prove: boolean,
): Steps<WindowOutcome> {
  const { entity, itemsPerWindow, settleMs, now, onPage } = context;
  const { startMs, endMs } = window;
  const how = { endMs, prove, settleMs };
  const walk = listCreated(context, entity, startMs, how);
  const dense = { isDense: true, latestCreatedMs: null, unproven: null };
  let items = 0;
  let latestCreatedMs: number | null = null;
  for await (const page of readPages({ now }, walk, onPage)) {
    const isFirst = items === 0;
    items += page.data.length;
    latestCreatedMs = later(latestCreatedMs, latestCreation(page, now()));
    yield 1;
    if (isFirst && isDense(window, page.total ?? 0, itemsPerWindow)) {
      return { ...dense, items: page.total };
    }
    // A proof takes each item twice; beyond that a wrong `total` hid the rest.
    if (isDense(window, items, itemsPerWindow * 4)) {
      return { ...dense, items: null };
    }
  }
  const unproven = walk.completeness.complete ? null : walk.completeness;
  return { isDense: false, items, unproven, latestCreatedMs };
}

/** Gives the pages of a walk, each after `onPage` has taken it. */
export async function* readPages<Row extends Order | User>(
  clock: { readonly now: () => number },
  walk: PollWalk<Row>,
  onPage: PageReader,
): AsyncGenerator<Page<Row>> {
  let requestedAtMs = clock.now();
  for await (const page of walk.pages()) {
    await onPage(page, requestedAtMs);
    yield page;
    requestedAtMs = clock.now();
  }
}

/** Latest plausible creation time on a page, in ms; null when there is none. */
export function latestCreation(page: ListPage, nowMs: number): number | null {
  return latestPlausible(
    page.data.map(({ created_at }) => readServiceTime(created_at ?? "")),
    nowMs,
  );
}

/** The later of two times; null only where both are. */
export function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? a ?? b : Math.max(a, b);
}

/** A range of creation time: its start is outside, its end is inside. */
export interface TimeWindow {
  /** Exclusive start, in milliseconds since the epoch, a whole second. */
  readonly startMs: number;
  /** Inclusive end, in milliseconds since the epoch, a whole second. */
  readonly endMs: number;
}

/** How far a walk through time has come. */
export interface WindowProgress {
  /** All up to here is read, in milliseconds since the epoch. */
  readonly doneUpToMs: number;
  /** How long the next window is to be, in milliseconds. */
  readonly spanMs: number;
}

/**
 * Progress before the first window: the whole range is one window until the
 * service shows that it is dense.
 */
export function wholeRange(fromMs: number, untilMs: number): WindowProgress {
  return { doneUpToMs: fromMs, spanMs: untilMs - fromMs };
}

/** Shortest window: the service filters by whole seconds. */
const SHORTEST_WINDOW_MS = 1000;

/** A longer window gains nothing. */
const LONGEST_WINDOW_MS = 20 * 365 * 24 * 3_600_000;

/**
 * Cuts the next window off the range that is still unread.
 *
 * Windows touch: each starts where the one before ended, and as the start is
 * outside and the end inside, every instant lies in exactly one of them.
 */
export function nextWindow(
  progress: WindowProgress,
  untilMs: number,
): TimeWindow | null {
  const startMs = wholeSecond(progress.doneUpToMs);
  const lastMs = wholeSecond(untilMs);
  if (lastMs <= startMs) return null;
  const spanMs = Math.max(SHORTEST_WINDOW_MS, wholeSecond(progress.spanMs));
  return { startMs, endMs: Math.min(lastMs, startMs + spanMs) };
}

/**
 * Decides where the walk goes on after a window: behind it when it was read,
 * in a shorter window when it was dense. Windows get longer again where they
 * hold few items.
 */
export function afterWindow(
  progress: WindowProgress,
  window: TimeWindow,
  { isDense, items }: Pick<WindowOutcome, "isDense" | "items">,
  wantedItems: number,
): WindowProgress {
  const lengthMs = window.endMs - window.startMs;
  if (!isDense) {
    const isSparse = (items ?? 0) * 4 < wantedItems;
    const spanMs = progress.spanMs * (isSparse ? 2 : 1);
    return {
      doneUpToMs: window.endMs,
      spanMs: Math.min(LONGEST_WINDOW_MS, spanMs),
    };
  }
  // Half of it where the service does not count.
  const share = items !== null && items > 0
    ? Math.min(0.5, wantedItems / items)
    : 0.5;
  const spanMs = Math.max(SHORTEST_WINDOW_MS, wholeSecond(lengthMs * share));
  return { doneUpToMs: progress.doneUpToMs, spanMs };
}

/**
 * Whether a window should be cut. A single second cannot be: it is walked
 * whatever it holds.
 */
export function isDense(
  window: TimeWindow,
  items: number,
  wantedItems: number,
): boolean {
  return items > wantedItems &&
    window.endMs - window.startMs > SHORTEST_WINDOW_MS;
}
