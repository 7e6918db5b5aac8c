import type { Fact, SessionFact } from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_fold.ts";
import type { Link } from "./links.ts";
import type { NewTransition } from "./transition.ts";

/** What the fold needs of one event. */
export interface BatchEvent {
  /** The event, decoded. */
  readonly fact: Fact;
  /** Whether it is a webhook delivery, readable or not. */
  readonly delivered: boolean;
  /** Whether it came from an import. */
  readonly imported: boolean;
}

/** What is known before a batch of events. */
export interface LoadedStates {
  /** Orders that the batch or its sessions concern; absent ones are new. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users that the batch concerns; absent ones are new. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Sessions recorded before, by `linkKey`. */
  readonly sessions: ReadonlyMap<string, readonly SessionFact[]>;
  /** Orders linked before, by `linkKey`. */
  readonly linkedOrders: ReadonlyMap<string, readonly string[]>;
}

/** What leads to an order. */
export interface OrderLink extends Link {
  /** The order. */
  readonly orderId: string;
  /**
   * For a click id: when the order existed at the latest, as far as was known
   * when this was written; later it can only be earlier. Otherwise empty.
   */
  readonly beganBy: string;
}

/** What leads to a session. */
export interface SessionLink extends Link {
  /** The session. */
  readonly session: SessionFact;
}

/** What subscribers and the poller are told of a batch. */
export interface Collected {
  /** Statuses entered, in order; the log keeps only the first entry of each. */
  readonly transitions: readonly NewTransition[];
  /** Orders named by fresh webhooks, and when the last of them came. */
  readonly ordersToConfirm: ReadonlyMap<string, string>;
  /** Users named by fresh webhooks, and when the last of them came. */
  readonly usersToConfirm: ReadonlyMap<string, string>;
}

/** What a batch of events changes. */
export interface Changes extends Collected {
  /** Orders after the batch. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users after the batch. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Links to orders, each once. */
  readonly orderLinks: readonly OrderLink[];
  /** Links to sessions, each once. */
  readonly sessionLinks: readonly SessionLink[];
  /** Deliveries that were not answered in time. */
  readonly unanswered: readonly string[];
}
