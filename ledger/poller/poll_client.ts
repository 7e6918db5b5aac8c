import type { Order } from "../../client/order.ts";
import type { OrdersQuery } from "../../client/orders_query.ts";
import type { Completeness, Page } from "../../client/page.ts";
import type { User } from "../../client/user.ts";
import type { UsersQuery, UsersWalkQuery } from "../../client/users_query.ts";

/** A walk over pages, as far as the poller needs one. */
export interface PollWalk<T> {
  /** The pages, each asked for when the one before is done with. */
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

/** What the poller asks of the client: `OnrampClient` fits. */
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
