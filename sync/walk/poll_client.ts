import type { Order } from "../../core/wire/order.ts";
import type { Completeness } from "../../core/wire/completeness.ts";
import type { Page } from "../../core/wire/page.ts";
import type {
  OrdersQuery,
  UsersQuery,
  UsersWalkQuery,
} from "../../core/wire/queries.ts";
import type { User } from "../../core/wire/user.ts";

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

/**
 * Distinguishes a failure of the service from an error of our own.
 *
 * @param error What was thrown.
 */
export function isServiceFailure(error: unknown): error is ServiceFailure {
  return error instanceof Error && "status" in error && "code" in error &&
    "retryable" in error && typeof error.retryable === "boolean";
}

/**
 * Whether the service may fail because of what was requested. A wrong key and
 * too many requests fail whatever is requested.
 *
 * @param error What was thrown.
 */
export function isRefusal(error: unknown): error is ServiceFailure {
  return isServiceFailure(error) && error.code !== "unauthorized" &&
    error.code !== "rate_limited";
}
