import type { Order } from "../../core/wire/order.ts";
import type { Completeness } from "../../core/wire/completeness.ts";
import { type Page, rowsOn } from "../../core/wire/page.ts";
import type {
  OrdersQuery,
  UsersQuery,
  UsersWalkQuery,
} from "../../core/wire/queries.ts";
import type { User } from "../../core/wire/user.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import { pastBeginsMs } from "../../core/time/plausible_time.ts";

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

/** What the poller needs of the client: `OnrampClient` fits. */
export interface PollClient {
  /** Reading orders. */
  readonly orders: {
    /** One page. */
    page(
      query?: OrdersQuery,
      options?: { readonly signal?: AbortSignal },
    ): Promise<Page<Order>>;
    /** All pages, with proof on request. */
    list(query?: OrdersQuery, options?: PollWalkOptions): PollWalk<Order>;
  };
  /** Reading users. */
  readonly users: {
    /** One page. */
    page(
      query?: UsersQuery,
      options?: { readonly signal?: AbortSignal },
    ): Promise<Page<User>>;
    /** All pages, ascending by creation time, with proof on request. */
    list(query?: UsersWalkQuery, options?: PollWalkOptions): PollWalk<User>;
  };
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

/** Options of a call, with the signal where there is one. */
export function callOptions(
  { signal }: Requester,
): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** Lists orders or users by creation time, the oldest first. */
export function listCreated(
  requester: Requester,
  entity: Entity,
  startMs: number,
  options: Omit<PollWalkOptions, "signal"> & { readonly endMs?: number } = {},
): PollWalk<Order | User> {
  const { endMs, ...how } = options;
  const { orders, users } = requester.client;
  const start = filterTime(startMs);
  const end = endMs === undefined ? null : filterTime(endMs);
  const walkOptions = { ...callOptions(requester), ...how };
  return entity === "order"
    ? orders.list({
      start_date: start,
      ...(end === null ? {} : { end_date: end }),
      order_by: "asc",
      limit: 20,
    }, walkOptions)
    : users.list(
      { from: start, ...(end === null ? {} : { to: end }), limit: 20 },
      walkOptions,
    );
}

/** Where the past begins at the service, and when it said so. */
interface Past {
  /** When the service answered, UTC ISO 8601. */
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

/** Cuts the fraction of a second. */
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
