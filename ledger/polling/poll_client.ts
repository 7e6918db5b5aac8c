import type { Order } from "../../core/wire/order.ts";
import type { Completeness } from "../../core/wire/completeness.ts";
import type { Page } from "../../core/wire/page.ts";
import type { User } from "../../core/wire/user.ts";

/** Which orders the poller requests, in the service's names. */
export interface PollOrdersQuery {
  /** Orders on a page, 0 to 20. */
  readonly limit?: number;
  /** Cursor of an earlier page. */
  readonly cursor_id?: string;
  /** Orders to skip; the earlier form of paging. */
  readonly offset?: number;
  /** Order, click or external order ids. */
  readonly search_by?: string | readonly string[];
  /** Order by creation time. */
  readonly order_by?: "asc" | "desc";
  /** Orders created after this time (exclusive), UTC. */
  readonly start_date?: string | Date;
  /** Orders created up to this time (inclusive), UTC. */
  readonly end_date?: string | Date;
}

/** Which users the poller walks, in the service's names. */
export interface PollUsersWalkQuery {
  /** Users on a page, 0 to 20. */
  readonly limit?: number;
  /** Users created after this time (exclusive), UTC. */
  readonly from?: string | Date;
  /** Users created up to this time (inclusive), UTC. */
  readonly to?: string | Date;
  /** These users. */
  readonly user_ids?: string | readonly string[];
}

/** Which page of users the poller requests, in the service's names. */
export interface PollUsersQuery extends PollUsersWalkQuery {
  /** Users to skip. */
  readonly offset?: number;
  /** Order by creation time. */
  readonly order_by?: "asc" | "desc";
}

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
      query?: PollOrdersQuery,
      options?: { readonly signal?: AbortSignal },
    ): Promise<Page<Order>>;
    /** All pages, with proof on request. */
    list(query?: PollOrdersQuery, options?: PollWalkOptions): PollWalk<Order>;
  };
  /** Reading users. */
  readonly users: {
    /** One page. */
    page(
      query?: PollUsersQuery,
      options?: { readonly signal?: AbortSignal },
    ): Promise<Page<User>>;
    /** All pages, ascending by creation time, with proof on request. */
    list(query?: PollUsersWalkQuery, options?: PollWalkOptions): PollWalk<User>;
  };
}
