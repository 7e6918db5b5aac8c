import type { RecordedEvent } from "../events/event.ts";
import type { Expectation } from "../events/expectation.ts";
import type { ExpectationFact, Fact } from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_fold.ts";
import type { FactLink } from "../events/links.ts";
import type { NewTransition } from "../machines/transition.ts";
import type { HandChange, ReleaseChange } from "../releases/release_log.ts";

/** What the fold needs of one event. */
export interface BatchEvent {
  /** The event, decoded. */
  readonly fact: Fact;
  /** What is stored of it: whom its columns name, and its body. */
  readonly named: Pick<
    RecordedEvent,
    "kind" | "orderId" | "userId" | "clickId" | "body"
  >;
  /** Whether it is a webhook delivery, readable or not. */
  readonly delivered: boolean;
  /** Whether it came from an import. */
  readonly imported: boolean;
}

/** What is known before a batch of events. */
export interface LoadedStates {
  /** Orders that the batch or its expectations concern; absent ones are new. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users that the batch concerns; absent ones are new. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Expectations recorded before that orders of the batch may keep. */
  readonly expectations: readonly Expectation[];
  /** Orders linked before, by `linkKey`. */
  readonly linkedOrders: ReadonlyMap<string, readonly string[]>;
}

/** What leads to an order. */
export interface OrderLink extends FactLink {
  /** The order. */
  readonly orderId: string;
  /**
   * For a click id or reference: when the order existed at the latest, as far as
   * was known when this was written; later it can only be earlier. Otherwise
   * empty.
   */
  readonly beganBy: string;
}

/**
 * What may be logged of an event: a status entered; or a release that changed or
 * was made by hand, of which the log so far decides what is logged.
 */
export type CollectedTransition = NewTransition | ReleaseChange | HandChange;

/** What subscribers and the poller are told of a batch. */
export interface Collected {
  /** In order; of statuses the log keeps only the first entry of each. */
  readonly transitions: readonly CollectedTransition[];
  /** Orders named by fresh webhooks, and when the last of them came. */
  readonly ordersToConfirm: ReadonlyMap<string, string>;
  /** Users named by fresh webhooks, and when the last of them came. */
  readonly usersToConfirm: ReadonlyMap<string, string>;
  /** Orders that were final before the ledger went live; whether it is listed. */
  readonly historic: ReadonlyMap<string, boolean>;
  /** Orders of which something new is told. */
  readonly revived: ReadonlySet<string>;
}

/** What a batch of events changes. */
export interface Changes extends Collected {
  /** Orders after the batch. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users after the batch. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Links to orders, each once. */
  readonly orderLinks: readonly OrderLink[];
  /** What the partner expects, as it was recorded. */
  readonly expectations: readonly ExpectationFact[];
  /** Deliveries that were not answered in time. */
  readonly unanswered: readonly string[];
}
