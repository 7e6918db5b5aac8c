import type {
  AppendDelivery,
  UnansweredDelivery,
} from "../webhooks/delivery.ts";
import type { NewEvent, SessionCreatedBody } from "./event/event.ts";
import { deliveryUnanswered, sessionCreated } from "./event/mint.ts";
import {
  type ChainHead,
  chainHead,
  extendChain,
} from "./evidence/chain_projection.ts";
import {
  type Verification,
  verifyChain,
  type VerifyOptions,
} from "./evidence/verify.ts";
import type { Explanation } from "./fold/explanation.ts";
import { explainOrder, orderAsOf } from "./fold/explain_order.ts";
import type { Occurrence, OccurrenceOptions } from "./fold/occurrences.ts";
import type { OrderState } from "./fold/order_state.ts";
import { readFact } from "./fold/read_fact.ts";
import { queryTime } from "./projection/cursor.ts";
import { exportEvents } from "./projection/export_events.ts";
import { type Import, importEvents } from "./projection/import_events.ts";
import { readOrderFacts } from "./projection/order_facts.ts";
import { Orders } from "./projection/orders.ts";
import { Projector } from "./projection/projector.ts";
import { projectAll } from "./projection/project_all.ts";
import { readOccurrences } from "./projection/read_occurrences.ts";
import {
  type Refold,
  refold,
  type RefoldOptions,
} from "./projection/refold.ts";
import {
  type SubscribeOptions,
  Subscription,
  type TransitionHandler,
} from "./projection/subscription.ts";
import { Subscriptions } from "./projection/subscriptions.ts";
import type { Transition } from "./projection/transition.ts";
import {
  readTransitions,
  type TransitionQuery,
} from "./projection/transitions.ts";
import { readLag, readStats } from "./projection/stats.ts";
import { Users } from "./projection/users.ts";
import type { Driver } from "./store/driver.ts";
import { EventLog } from "./store/event_log.ts";
import type {
  CatchUpOptions,
  LedgerParts,
  Projection,
  Stats,
} from "./ledger_parts.ts";

export type {
  CatchUpOptions,
  LedgerParts,
  Projection,
  Stats,
} from "./ledger_parts.ts";

/**
 * The ledger: facts go in and are never changed; orders and users come out as
 * far as the facts say.
 */
export class Ledger implements AsyncDisposable {
  /** The database. */
  readonly driver: Driver;
  /** Environment the ledger belongs to. */
  readonly environment: string;
  /** Orders as folded so far. */
  readonly orders: Orders;
  /** Users as folded so far. */
  readonly users: Users;
  /** What subscriptions could not deliver, or never heard of. */
  readonly subscriptions: Subscriptions;
  readonly #parts: LedgerParts;
  readonly #log: EventLog;
  readonly #projector: Projector;
  readonly #open = new Set<Subscription>();
  #projecting: Promise<unknown> = Promise.resolve();

  /**
   * Works on a database; {@linkcode openLedger} makes one.
   *
   * @param parts What it works with.
   */
  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.driver = parts.driver;
    this.environment = parts.origin.environment;
    this.#log = new EventLog(parts.driver, {
      randomBytes: parts.randomBytes,
    });
    this.#projector = new Projector(parts);
    this.orders = new Orders(parts.driver);
    this.users = new Users(parts.driver);
    this.subscriptions = new Subscriptions(parts.driver, parts.now);
  }

  /**
   * Stores a delivery, whatever it says. Pass it to `webhookEndpoint`; it needs
   * no `this`.
   *
   * @throws {LedgerError} When the delivery could not be stored.
   */
  readonly appendDelivery: AppendDelivery = (delivery) =>
    this.#log.appendDelivery(delivery);

  /**
   * Records that a stored delivery was not answered in time. It needs no
   * `this`.
   *
   * @throws {LedgerError} When it could not be stored.
   */
  readonly recordUnanswered = (
    unanswered: UnansweredDelivery,
  ): Promise<void> =>
    this.#log.append([
      deliveryUnanswered({
        unanswered,
        recordedAt: this.#time(),
        salt: this.#parts.randomBytes(16),
      }),
    ]);

  /**
   * Records a session that this partner made, so that orders can be compared
   * with what was asked for. It needs no `this`.
   *
   * @throws {TypeError} When the session has no id.
   * @throws {LedgerError} When it could not be stored.
   */
  readonly recordSession = async (
    session: SessionCreatedBody,
  ): Promise<void> => {
    await this.#log.append([
      sessionCreated({
        session,
        recordedAt: this.#time(),
        salt: this.#parts.randomBytes(16),
      }),
    ]);
  };

  /**
   * Appends events, all or none; those stored already are passed over.
   *
   * @param events What happened.
   * @returns After the commit that holds them.
   * @throws {LedgerError} When they could not be stored.
   */
  append(events: readonly NewEvent[]): Promise<void> {
    return this.#log.append(events);
  }

  /**
   * Folds events into orders and users until none is left. Any number of
   * processes may do so at once.
   *
   * A ledger that an older version has folded is folded again from nothing
   * first, beside the states that readers see.
   *
   * @param options Signal and progress.
   * @throws {LedgerError} When the database fails.
   */
  project(options: CatchUpOptions = {}): Promise<Projection> {
    // One at a time in this process: two would only undo each other's steps.
    const projection = this.#projecting.then(() =>
      projectAll(this.#projector, this.driver, options, () => {
        for (const subscription of this.#open) subscription.wake();
      })
    );
    this.#projecting = projection.catch(() => {});
    return projection;
  }

  /**
   * Folds every event again from nothing, beside the states that readers see,
   * and swaps them in one moment. It may be stopped and called again: then it
   * goes on where it was. It makes no transitions; see
   * {@linkcode Subscriptions.unfired} for what it newly made true.
   *
   * @param options Whether only to look, signal and progress.
   * @throws {LedgerError} `failed` when a newer version has folded the ledger.
   */
  refold(options: RefoldOptions = {}): Promise<Refold> {
    const refolded = this.#projecting.then(async () => {
      for (;;) {
        const done = await refold(this.#projector, this.driver, {
          ...options,
          compare: true,
        });
        if (done !== null) return done;
      }
    });
    this.#projecting = refolded.catch(() => {});
    return refolded;
  }

  /**
   * Explains an order: every event of it, what each changed or why it changed
   * nothing, and which event each field comes from.
   *
   * @param orderId Order identifier.
   * @returns Null when no event names the order.
   * @throws {LedgerError} When the database fails.
   */
  async explain(orderId: string): Promise<Explanation | null> {
    const facts = await this.#factsOf(orderId);
    return facts.length === 0
      ? null
      : explainOrder(orderId, facts, { assets: this.#parts.assets });
  }

  /**
   * Tells what was known of an order at a time.
   *
   * @param orderId Order identifier.
   * @param time ISO 8601 with a zone; compared with when this ledger learnt.
   * @returns Null when nothing was known of the order then.
   * @throws {RangeError} When `time` is no time.
   * @throws {LedgerError} When the database fails.
   */
  async asOf(orderId: string, time: string): Promise<OrderState | null> {
    return orderAsOf(
      orderId,
      await this.#factsOf(orderId),
      queryTime("time", time),
      { assets: this.#parts.assets },
    );
  }

  /**
   * Tells which deliveries with the same bytes repeat another, and which
   * happened again: some events are byte-identical when they truly happen
   * twice.
   *
   * @param eventId `eventId` of one of the deliveries.
   * @param options How to tell.
   * @returns By time of arrival; none when there is no such delivery.
   * @throws {LedgerError} When the database fails.
   */
  occurrences(
    eventId: string,
    options: OccurrenceOptions = {},
  ): Promise<Occurrence[]> {
    return readOccurrences(this.driver, eventId, options);
  }

  /**
   * Reads the log of transitions: the first time each order and user was in
   * each status with each trust.
   *
   * @param query Which ones.
   * @throws {LedgerError} When the database fails.
   */
  transitions(query: TransitionQuery = {}): Promise<Transition[]> {
    return readTransitions(this.driver, query);
  }

  /**
   * Calls a handler for each transition, at least once, in order within an
   * order or user. The checkpoint is kept under the name, so that a restart
   * goes on where it was. Transitions appear when somebody projects.
   *
   * @param name Name of the subscription; run it in one process at a time.
   * @param options What to take, and how to deal with failure.
   * @param handler Told of each transition; may be told again after a crash.
   * @returns Stopped by its `stop()`, and by {@linkcode Ledger.close}.
   * @throws {TypeError} When a pattern is wrong.
   * @throws {LedgerError} When the database fails.
   *
   * @example Release goods once the service itself says so
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * await ledger.subscribe(
   *   "release-goods",
   *   { on: "order.confirmed.success" },
   *   ({ key, id }) => console.log(`release once for ${key}, order ${id}`),
   * );
   * ```
   */
  async subscribe(
    name: string,
    options: SubscribeOptions,
    handler: TransitionHandler,
  ): Promise<Subscription> {
    const subscription = new Subscription({
      driver: this.driver,
      now: this.#parts.now,
      name,
      options,
      handler,
    });
    await subscription.open();
    this.#open.add(subscription);
    return subscription;
  }

  /**
   * Writes the ledger as lines of JSON: a header, then every event by
   * position. Importing it into another ledger gives the same states, and
   * exporting that one the same lines.
   *
   * @returns Lines without line breaks.
   * @throws {LedgerError} When the database fails.
   */
  export(): AsyncGenerator<string> {
    return exportEvents(this.driver, this.environment);
  }

  /**
   * Appends the events of an export; those there already are passed over.
   * What they lead to is history: subscriptions are not told of it.
   *
   * @param lines Lines of an export, without line breaks.
   * @throws {TypeError} When a line is not what an export writes, or is of
   * another environment; what came before it stays.
   * @throws {LedgerError} When the database fails.
   */
  import(lines: AsyncIterable<string>): Promise<Import> {
    return importEvents(this.driver, this.environment, lines);
  }

  /**
   * Extends the evidence chain until it reaches the last event.
   *
   * @param options Signal and pace.
   * @throws {LedgerError} When the database fails.
   */
  chain(
    options: Pick<CatchUpOptions, "signal" | "pace"> = {},
  ): Promise<ChainHead> {
    return extendChain(this.driver, this.#parts.origin, options);
  }

  /**
   * Computes the evidence chain again, and everything that bodies determine.
   *
   * @param options What to hold it against, progress and signal.
   * @throws {LedgerError} When the database fails.
   */
  verify(options: VerifyOptions = {}): Promise<Verification> {
    return verifyChain(this.driver, this.#parts.origin, options);
  }

  /**
   * Counts what the ledger holds, and says how far it is folded and chained.
   *
   * @throws {LedgerError} When the database fails.
   */
  async stats(): Promise<Stats> {
    const stats = await readStats(this.driver);
    const { position, events, hash } = await chainHead(
      this.driver,
      this.#parts.origin,
    );
    return { ...stats, chain: { count: events, hash, position } };
  }

  /**
   * Counts events that are not folded yet. Cheap while they are few.
   *
   * @throws {LedgerError} When the database fails.
   */
  lag(): Promise<number> {
    return readLag(this.driver);
  }

  /**
   * Makes sure that the ledger takes writes, by a write that changes nothing.
   *
   * @throws {LedgerError} Why it does not.
   */
  async probe(): Promise<void> {
    await this.driver.batch([{
      sql: "UPDATE rampkit SET schema_version = schema_version",
      args: [],
    }], "write");
  }

  /**
   * Copies the ledger, which may be in use, into a new file.
   *
   * @param path File that does not exist yet.
   * @throws {TypeError} When the ledger is on a server.
   * @throws {LedgerError} When the file exists or cannot be written.
   */
  async backup(path: string): Promise<void> {
    if (this.driver.copyTo === undefined) {
      throw new TypeError(
        "Cannot copy a ledger on a server into a file: use the server's own " +
          "backup, or export the events",
      );
    }
    await this.driver.copyTo(path);
  }

  /**
   * Stops subscriptions, waits for appends on their way, and closes the
   * database.
   */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((one) => one.stop()));
    await this.#log.close();
    await this.#projecting;
    await this.#projector.forget();
    await this.driver.close();
  }

  /** Same as {@linkcode Ledger.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #factsOf(orderId: string): ReturnType<typeof readOrderFacts> {
    const read = this.#parts.fold?.readFact ?? readFact;
    return readOrderFacts(this.driver, orderId, read);
  }

  #time(): string {
    return new Date(this.#parts.now()).toISOString();
  }
}
