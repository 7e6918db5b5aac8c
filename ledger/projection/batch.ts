import type { RecordedEvent } from "../events/event.ts";
import type { Expectation } from "../events/expectation.ts";
import {
  type ExpectationFact,
  type Fact,
  isWitnessRule,
  type WitnessRuleFact,
} from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_fold.ts";
import type { FactLink } from "../events/links.ts";
import type { NewTransition } from "../machines/transition.ts";
import type { HandChange, ReleaseChange } from "../releases/release_log.ts";
import type { Driver, ResultSet } from "../store/driver/driver.ts";
import {
  type Checkpoints,
  checkpointsOf,
  type ProjectionSlot,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import {
  recordedBatch,
  recordedEvent,
  selectBatch,
  selectFoldsOfBatch,
} from "../store/tables/events/event_rows.ts";
import {
  importedRanges,
  type PositionRange,
  selectImportedAfter,
} from "../store/tables/imported.ts";
import { selectAnyExpectation } from "../store/tables/events/expectations.ts";
import { selectWitnessRules } from "../store/tables/events/witness_rules.ts";
import type { Urgency } from "../store/tables/polling/request_queues.ts";

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
  /** Since when orders wait for the chain, and until when, as recorded before. */
  readonly rules: readonly WitnessRuleFact[];
  /** Successes that a rule of the batch may concern. */
  readonly successes: readonly string[];
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

/** How fresh webhooks named an order or user. */
export interface ToConfirm {
  /** When the last of them came, UTC ISO 8601. */
  readonly at: string;
  /** How urgent the most urgent of them makes it. */
  readonly urgency: Urgency;
  /** Position of the last of them that makes it urgent; 0 where none does. */
  readonly claimedBy: number;
}

/** What subscribers and the poller learn of a batch. */
export interface Collected {
  /** In order; of statuses the log keeps only the first entry of each. */
  readonly transitions: readonly CollectedTransition[];
  /** Orders named by fresh webhooks. */
  readonly ordersToConfirm: ReadonlyMap<string, ToConfirm>;
  /** Users named by fresh webhooks. */
  readonly usersToConfirm: ReadonlyMap<string, ToConfirm>;
  /** Orders that were final before the ledger went live; whether it is listed. */
  readonly historic: ReadonlyMap<string, boolean>;
  /** Orders of which something new is sent. */
  readonly revived: ReadonlySet<string>;
}

/** Where new orders and users stand among others: their first events. */
export interface Places {
  /** Positions by order id. */
  readonly orders: ReadonlyMap<string, number>;
  /** Positions by user id. */
  readonly users: ReadonlyMap<string, number>;
}

/** What a batch of events changes. */
export interface Changes extends Collected {
  /** Orders after the batch. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users after the batch. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Where those of them stand that are new. */
  readonly places: Places;
  /** Links to orders, each once. */
  readonly orderLinks: readonly OrderLink[];
  /** What the partner expects, as it was recorded. */
  readonly expectations: readonly ExpectationFact[];
  /** Deliveries that were not answered in time. */
  readonly unanswered: readonly string[];
}

/** Which events a step reads. */
export interface EventsOptions {
  /** Which states they are for. */
  readonly slot: ProjectionSlot;
  /** `write` reads from the primary: after a lost race a replica may be behind. */
  readonly mode: "read" | "write";
  /** Most events. */
  readonly maxEvents: number;
  /** Most bytes of bodies, unless one event alone has more. */
  readonly maxBytes: number;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

/** The next events, and what is read at the same moment. */
export interface EventsRead {
  /** The checkpoints at that moment. */
  readonly checkpoints: Checkpoints;
  /** Whether anything that the partner expects has been folded. */
  readonly anyExpected: boolean;
  /** Since when orders wait for the chain, by all events that there are. */
  readonly rules: readonly WitnessRuleFact[];
  /** The events. */
  readonly events: readonly BatchEvent[];
  /** Folds of the orders that the events name. */
  readonly orders: ResultSet | undefined;
  /** Folds of the users that the events name. */
  readonly users: ResultSet | undefined;
}

/**
 * Reads the next events and decodes them, and reads the folds of the orders and
 * users that they name at the same moment.
 *
 * @param options Which events.
 * @param after Position before the first; null for the slot's checkpoint.
 */
export async function readEvents(
  driver: Driver,
  options: EventsOptions,
  after: number | null,
): Promise<EventsRead> {
  const { slot, mode, maxEvents, maxBytes, readFact } = options;
  const batch = { slot, maxEvents, maxBytes, after };
  const [checkpoints, anyExpected, rules, ranges, events, orders, users] =
    await driver.batch([
      selectCheckpoints,
      selectAnyExpectation,
      selectWitnessRules,
      selectImportedAfter(slot),
      selectBatch(batch),
      ...selectFoldsOfBatch(batch),
    ], mode);
  return {
    checkpoints: checkpointsOf(checkpoints),
    anyExpected: anyExpected?.rows[0]?.[0] === 1,
    rules: (rules?.rows ?? []).map((row) => readFact(recordedEvent(row)))
      .filter(isWitnessRule),
    events: batchEvents(events, importedRanges(ranges), readFact),
    orders,
    users,
  };
}

function batchEvents(
  rows: ResultSet | undefined,
  ranges: readonly PositionRange[],
  readFact: EventsOptions["readFact"],
): BatchEvent[] {
  const imported = (position: number) =>
    ranges.some(([first, last]) => position >= first && position <= last);
  return recordedBatch(rows).map((event) => ({
    fact: readFact(event),
    named: event,
    delivered: event.kind === "webhook",
    imported: imported(event.position),
  }));
}
