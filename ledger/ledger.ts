import { monotonicFactory } from "ulid";
import { printable } from "../core/text.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import type { WitnessRule } from "../core/chain/verdict.ts";
import type { BodyClasses } from "../core/webhook_event/classify_body.ts";
import type {
  AppendDelivery,
  UnansweredDelivery,
} from "../core/wire/objects.ts";
import type { HeadAnchor } from "./evidence/anchor_file.ts";
import {
  anchorHead,
  type ChainBreak,
  type ChainState,
  readHead,
  type Verification,
  verifyEvidence,
  type VerifyOptions,
} from "./evidence/evidence.ts";
import { type NewEvent, witnessRuleBody } from "./events/event.ts";
import { record, unansweredBody } from "./events/record.ts";
import {
  expectationBody,
  type OrderExpectation,
  readWitnessRule,
  refuseTerms,
  sessionBody,
  type SessionToRecord,
} from "./recording/terms.ts";
import type { Explanation } from "./explain/explain_order.ts";
import type { Transition } from "./machines/transition.ts";
import type { OrderContext, OrderState } from "./states/order_state.ts";
import type { AttentionKind } from "./outcomes/outcome_table.ts";
import { Months } from "./months/months.ts";
import type { Historic } from "./releases/order_release.ts";
import {
  checkRelease,
  decideRelease,
  type RecordedRelease,
  type ReleaseByHand,
  ReleaseError,
} from "./releases/release_by_hand.ts";
import { type Driver, statement, write } from "./store/database.ts";
import type {
  SubscribeOptions,
  TransitionHandler,
} from "./subscriptions/outbox.ts";
import {
  type Refold,
  refold,
  type RefoldOptions,
  type StatesVerification,
  verifyStates,
  type VerifyStatesOptions,
} from "./projection/refold.ts";
import {
  catchUp,
  type CatchUpOptions,
  type Projection,
} from "./projection/catch_up.ts";
import type { RedactNew } from "./projection/project.ts";
import { type AttentionItem, listAttention, Orders } from "./reads/orders.ts";
import { Users } from "./reads/users.ts";
import { readExplanation } from "./reads/explain.ts";
import { findAnything, type FindResult } from "./reads/find.ts";
import { forgetHash } from "./reads/pages.ts";
import { type Occurrence, readOccurrences } from "./reads/deliveries.ts";
import {
  type LedgerStats,
  readHistoric,
  readLag,
  readStats,
  readWaiting,
  type WaitingDeliveries,
} from "./reads/stats.ts";
import {
  isStored,
  readHandRelease,
  readKnownOfRelease,
  readOrderFold,
  readTransitions,
  type TransitionQuery,
} from "./reads/releases.ts";
import { Erasures } from "./erasure/erasures.ts";
import type { ErasureParts } from "./erasure/redact.ts";
import { goLive } from "./recording/notes.ts";
import { EventLog } from "./store/events.ts";
import {
  exportEvents,
  type Import,
  importEvents,
} from "./transfer/transfer.ts";
import { exportMoved, importMoved } from "./transfer/move.ts";
import { Subscription } from "./subscriptions/dispatcher.ts";
import { Subscriptions } from "./subscriptions/subscriptions.ts";

/** {@linkcode LedgerStats} with what waits, and the evidence chain. */
export interface Stats extends LedgerStats {
  /** What waits in spools; null where nothing is known to wait. */
  readonly waiting: WaitingDeliveries | null;
  /** How far the evidence chain reaches: record it elsewhere. */
  readonly chain: {
    /** Events in the chain. */
    readonly count: number;
    /** Hash of the last of them, 64 hex digits. */
    readonly hash: string;
    /** Position of the last of them. */
    readonly position: number;
    /** Why it is not extended; see {@linkcode ChainState}. */
    readonly broken: ChainBreak | null;
  };
}

/** What a {@linkcode Ledger} works with. */
export interface LedgerParts extends ErasureParts {
  readonly environment: string;
  readonly ledgerId: string;
  readonly anchor: HeadAnchor | undefined;
  readonly redactNew: RedactNew;
}

/** Expectations recorded within this time get times one after another. */
const SOON_MS = 1000;

/**
 * The ledger: stores facts, never changes them, and derives the states of
 * orders and users from them. Every method throws a {@linkcode LedgerError} where
 * the database fails.
 */
export class Ledger implements AsyncDisposable {
  /** The database. */
  readonly driver: Driver;
  /** Environment the ledger belongs to. */
  readonly environment: string;
  /** Identity of the ledger, whichever file or server holds it. */
  readonly id: string;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /** Orders as folded so far. */
  readonly orders: Orders;
  /** Users as folded so far. */
  readonly users: Users;
  /** Months whose books are closed. */
  readonly months: Months;
  /** Transitions that subscriptions could not deliver or never received. */
  readonly subscriptions: Subscriptions;
  /** People who were erased, and bodies that were pruned. */
  readonly erasures: Erasures;
  readonly #parts: LedgerParts;
  readonly #log: EventLog;
  readonly #open = new Set<Subscription>();
  readonly #onProjected = new Set<() => void>();
  readonly #onRequested = new Set<() => void>();
  /** Ids of expectations, each greater than the one before. */
  readonly #mintId = monotonicFactory(() =>
    (this.#parts.randomBytes(1)[0] ?? 0) / 256
  );
  #lastExpectationMs = -Infinity;
  #projecting: Promise<unknown> = Promise.resolve();

  /** Creates a ledger on a database. Use {@linkcode openLedger} instead. */
  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.driver = parts.driver;
    this.environment = parts.environment;
    this.id = parts.ledgerId;
    this.assets = parts.assets;
    this.#log = new EventLog(parts.driver, { randomBytes: parts.randomBytes });
    this.orders = new Orders(parts.driver, parts.assets);
    this.users = new Users(parts.driver);
    this.erasures = new Erasures(parts);
    this.months = new Months({
      ...parts,
      folded: () => this.project(),
      append: (events) => this.append(events),
    });
    this.subscriptions = new Subscriptions(parts.driver, parts.now);
  }

  /**
   * Stores a delivery, whatever it says. Pass it to `webhookEndpoint`; it needs
   * no `this`. The ledger goes live with the first delivery, unless it has before.
   *
   * @throws {LedgerError} When the delivery could not be stored.
   */
  readonly appendDelivery: AppendDelivery = (delivery) =>
    this.#log.appendDelivery(delivery);

  /**
   * Appends events, all or none; those stored already are skipped.
   *
   * @returns Resolves after the commit that holds them.
   * @throws {LedgerError} When they could not be stored.
   */
  append(events: readonly NewEvent[]): Promise<void> {
    return this.#log.append(events);
  }

  /**
   * Stores what a spool hands over: deliveries, and notes of unanswered ones.
   * Pass it to `spoolMover`; it needs no `this`. Resolves with the classes of
   * the bodies.
   *
   * @throws {LedgerError} When they could not be stored.
   */
  readonly appendRecords = (records: Uint8Array): Promise<BodyClasses> =>
    this.#log.appendRecords(records);

  /**
   * Records that a stored delivery was not answered in time. It needs no
   * `this`.
   *
   * @throws {LedgerError} When it could not be stored.
   */
  readonly recordUnanswered = (unanswered: UnansweredDelivery): Promise<void> =>
    this.append([
      record("delivery_unanswered", unansweredBody(unanswered), this.#minted()),
    ]);

  /**
   * Records a session that this partner made, so that orders can be compared
   * with what was asked for. It needs no `this`.
   *
   * Give each purchase a `click_id` and a `reference` of its own. Of a
   * reference, the terms recorded last before the order apply. `expected`
   * states what the session itself does not: one of a smart contract has no
   * amount.
   *
   * @example Record the client's request and response
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import { OnrampClient } from "@rampkit/onramp/client";
   * import { createSandbox } from "@rampkit/onramp/sandbox";
   *
   * await using sandbox = createSandbox();
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * const client = new OnrampClient({
   *   environment: "sandbox",
   *   apiKey: sandbox.apiKey,
   *   fetch: (input, init) => sandbox.fetch(new Request(input, init)),
   * });
   * const request = { currency: "USD", currency_amount: 100 } as const;
   * const session = await client.sessions.create(request);
   * await ledger.recordSession({ ...request, ...session, click_id: "c-1" });
   * ```
   *
   * @throws {ExpectationError} `invalid` when fields are wrong;
   * `click_id_in_use` when the click id is still valid for another reference;
   * `purchase_paid` when these are other terms than those that were paid.
   * @throws {LedgerError} When it could not be stored.
   */
  readonly recordSession = async (session: SessionToRecord): Promise<void> => {
    const now = this.#expectationTime();
    const body = sessionBody(session, now);
    await this.#appendExpectation(
      record("session_created", body, this.#minted(now)),
    );
  };

  /**
   * Records what an order must match, without a session: for sessions
   * that another program makes, and for a basket that has changed since. It
   * needs no `this`.
   *
   * @example Record a basket that has grown since the widget was opened
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * await ledger.expect({
   *   clickId: "c-1",
   *   reference: "basket-17",
   *   currency: "USD",
   *   currencyAmount: "900.00",
   * });
   * ```
   *
   * @throws {ExpectationError} `invalid` when fields are wrong;
   * `click_id_in_use` when the click id is still valid for another reference.
   * @throws {LedgerError} When it could not be stored.
   */
  readonly expect = async (
    expectation: OrderExpectation,
  ): Promise<{ readonly id: string }> => {
    const now = this.#expectationTime();
    const id = this.#mintId(now);
    const body = expectationBody(expectation, { id, now });
    await this.#appendExpectation(
      record("order_expected", body, this.#minted(now)),
    );
    return { id };
  };

  /**
   * Lets the release of a success wait until the partner's own chain nodes have
   * seen it arrive, or no longer. It holds for orders that begin from now on,
   * by the service's time of creation, in every process and until it is
   * changed: an order that had begun before keeps the rule of that time.
   * Without it no release waits for the chain.
   *
   * @param rule `all`, `supported` (an order whose network is not configured or
   * whose token is not pinned does not wait), or `off`.
   * @throws {LedgerError} When it could not be stored.
   *
   * @example A release waits for the chain
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import assert from "node:assert/strict";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * assert.equal(await ledger.requireWitness("all"), true);
   * assert.equal(await ledger.requireWitness("all"), false);
   * assert.equal(await ledger.requiredWitness(), "all");
   * ```
   */
  async requireWitness(rule: WitnessRule): Promise<boolean> {
    const minted = this.#minted();
    const { recordedAt } = minted;
    if (await readWitnessRule(this.driver, recordedAt) === rule) return false;
    const body = witnessRuleBody(rule, recordedAt);
    await this.append([record("witness_required", body, minted)]);
    return true;
  }

  /**
   * The rule for orders that begin from now on; `off` where none was recorded.
   */
  requiredWitness(): Promise<WitnessRule> {
    const at = new Date(this.#parts.now()).toISOString();
    return readWitnessRule(this.driver, at);
  }

  /**
   * Records that a person delivered, refunded or wrote off an order that the
   * service has shown, or takes back what was recorded. While something stands its
   * release is `settled`, and no handler or target receives a `yes` of it. A
   * purchase that was delivered counts as released: another order of it waits as
   * paid twice. A refund frees nothing.
   *
   * @throws {ReleaseError} `needs_confirmation` where something speaks against it;
   * `unknown_order`; `not_shown`; `reference_missing` when the order matches no
   * expectation and `for` does not say what was delivered; `reference_unknown`;
   * `nothing_stands`; `invalid`.
   * @throws {LedgerError} When it could not be stored.
   *
   * @example The goods were handed out at the counter
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import assert from "node:assert/strict";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * const release = {
   *   outcome: "delivered",
   *   by: "Ada",
   *   why: "paid at the counter",
   *   for: "basket-17",
   * } as const;
   * await assert.rejects(ledger.release("01ORDER", release), {
   *   code: "unknown_order",
   * });
   * assert.equal(await ledger.handRelease("01ORDER"), null);
   * ```
   */
  async release(
    orderId: string,
    release: ReleaseByHand,
  ): Promise<RecordedRelease> {
    checkRelease(release);
    await this.project();
    const fold = await readOrderFold(this.driver, orderId);
    const purchase = release.for ?? null;
    const known = await readKnownOfRelease(this.driver, orderId, purchase);
    const { assets } = this.#parts;
    const decided = decideRelease(orderId, release, fold, { assets, ...known });
    const event = record("order_released", decided, this.#minted());
    await this.append([event]);
    await this.project();
    const recorded = await this.handRelease(orderId);
    if (recorded !== null && await isStored(this.driver, event)) {
      return recorded;
    }
    throw new ReleaseError(
      "needs_confirmation",
      `Cannot record ${release.outcome} of ${printable(orderId)} unless it ` +
        "is confirmed: somebody else was first",
    );
  }

  /**
   * Reads what a person did about an order.
   *
   * @returns Null when nobody has acted on it.
   */
  handRelease(orderId: string): Promise<RecordedRelease | null> {
    return readHandRelease(this.driver, orderId);
  }

  /**
   * Sets the time from which transitions are sent to handlers and targets: now,
   * unless the ledger has one. What ended before is historic: logged and
   * booked, but not sent. A poller and `serve` call it, and the first delivery
   * that is stored does the same.
   *
   * @param time The time, UTC ISO 8601. @default now, unless the ledger has one
   * @returns The time of the ledger, UTC ISO 8601.
   * @throws {TypeError} When `time` is not a time.
   * @throws {LedgerError} `failed` when the ledger has gone live at another time.
   *
   * @example Go live at a time of your choice
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import assert from "node:assert/strict";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * await ledger.goLive("2026-11-20T17:00:00Z");
   * assert.equal(await ledger.goLive(), "2026-11-20T17:00:00.000Z");
   * ```
   */
  goLive(time?: string): Promise<string> {
    return goLive(this.driver, time, this.#parts.now());
  }

  /**
   * Folds events into orders and users until none is left, and then extends
   * the evidence chain over them. Any number of processes may do so at once.
   *
   * A ledger that an older version has folded is folded again from nothing
   * first, beside the states that readers see.
   */
  project(options: CatchUpOptions = {}): Promise<Projection> {
    return this.#alone(async () => {
      const done = await catchUp(
        this.#parts,
        options,
        ({ transitions, requests }) => {
          if (transitions) this.#onProjected.forEach((listener) => listener());
          if (requests) this.#onRequested.forEach((listener) => listener());
        },
      );
      return { ...done, chain: await this.chain() };
    });
  }

  /**
   * Folds every event again from nothing, beside the states that readers see,
   * and then replaces those in one transaction. It may be stopped; the next
   * call continues. It makes no transitions; see
   * {@linkcode Subscriptions.unfired} for new states.
   *
   * @throws {LedgerError} `failed` when a newer version has folded the ledger.
   */
  refold(options: RefoldOptions = {}): Promise<Refold> {
    return this.#alone(() => refold(this.#parts, options));
  }

  /**
   * Calls a function whenever this process has folded events, so that there may
   * be new transitions.
   *
   * @param listener Must not throw.
   * @returns Stops the calls when it is disposed of.
   */
  onProjected(listener: () => void): Disposable {
    return listen(this.#onProjected, listener);
  }

  /**
   * Calls a function whenever this process has folded webhooks, so that the
   * poller has something to confirm: what `createPoller` is woken by.
   *
   * @param listener Must not throw.
   * @returns Stops the calls when it is disposed of.
   */
  onRequested(listener: () => void): Disposable {
    return listen(this.#onRequested, listener);
  }

  /**
   * Calls a handler for each transition, at least once, in order within an
   * order or user. What is still to be told is stored under the name, so a restart
   * continues with it. Transitions appear after {@linkcode Ledger.project}.
   *
   * Of several processes that subscribe under one name, one delivers. The
   * others wait, and one takes over when it stops or dies: at once on the same
   * machine, else ten seconds later.
   *
   * @param options Which transitions to receive, and how to handle failures.
   * @param handler Called for each transition; perhaps again after a crash.
   * @returns Stopped by its `stop()`, and by {@linkcode Ledger.close}.
   * @throws {TypeError} When a pattern is wrong.
   *
   * @example Release goods once an order is what you expected
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * await ledger.subscribe(
   *   "release-goods",
   *   { on: "order.release.yes" },
   *   ({ key }, { reference }) => {
   *     console.log(`release ${reference}, once for ${key}`);
   *   },
   * );
   * ```
   */
  async subscribe(
    name: string,
    options: SubscribeOptions,
    handler: TransitionHandler,
  ): Promise<Subscription> {
    const { now, assets } = this.#parts;
    const subscription = new Subscription({
      ...{ driver: this.driver, now, assets, name, options, handler },
    });
    await subscription.open();
    this.#open.add(subscription);
    listen(this.#onProjected, () => subscription.wake());
    return subscription;
  }

  /**
   * Explains an order: its events, what each changed or why it changed nothing,
   * and which event each field comes from. Anybody who knows the webhook
   * address can send any number of webhooks for one order, so at most a limited
   * number is read and listed, and `leftOut` counts the others.
   *
   * @param time Only events that this ledger had learnt by then, ISO 8601 with
   * a zone. @default {all events}
   * @returns Null when no event names the order.
   * @throws {RangeError} When `time` is not a valid time.
   */
  explain(orderId: string, time?: string): Promise<Explanation | null> {
    return readExplanation(this.#parts, orderId, time);
  }

  /**
   * Gives the state of an order as the ledger knew it at a time.
   *
   * @param time ISO 8601 with a zone; compared with when this ledger learnt.
   * @returns Null when nothing was known of the order then.
   * @throws {RangeError} When `time` is not a valid time.
   */
  async asOf(
    orderId: string,
    time: string,
  ): Promise<OrderState & { readonly context: OrderContext } | null> {
    const found = await readExplanation(this.#parts, orderId, time);
    return found && { ...found.state, context: found.context };
  }

  /**
   * Finds orders and users by anything that names one: order id, external order
   * id, the partner's own reference, click id, session, transaction, wallet
   * address or user id, whatever the case. From four characters on, the
   * beginning of an order id, external order id or reference will do.
   *
   * @param text What to look for; spaces around it do not count.
   * @returns At most a hundred, with what matched; whole matches first.
   * @throws {RangeError} When the text is empty.
   *
   * @example Find an order by what a customer's e-mail says
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import assert from "node:assert/strict";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * const { found } = await ledger.find("27e28m");
   * assert.deepEqual(found, []);
   * ```
   */
  find(text: string): Promise<FindResult> {
    return findAnything(this.driver, text, this.#parts.assets);
  }

  /**
   * Lists the orders that wait for a person, from the ledger alone: refunds
   * that are due, payments that were taken back, amounts that differ, orders
   * that are stuck or forged. Each order comes once, those with the gravest
   * reason first, and of one reason the oldest first.
   *
   * @param only Only orders with this reason, whatever else they wait for.
   *
   * @example List what waits for a person, the gravest first
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * for await (const { kinds, order } of ledger.attention()) {
   *   console.log(kinds[0], order.orderId, order.currencyAmount);
   * }
   * ```
   */
  attention(only?: AttentionKind): AsyncGenerator<AttentionItem> {
    return listAttention(this.orders, this.#parts.now(), only);
  }

  /**
   * Finds out which deliveries with the same bytes are repeats, and which are
   * new events: some events have the same bytes when they really happen twice.
   *
   * @returns By time of arrival; empty when there is no such delivery.
   */
  occurrences(eventId: string): Promise<Occurrence[]> {
    return readOccurrences(this.driver, eventId);
  }

  /**
   * Reads the log of transitions: the first time each order and user was in
   * each status with each trust.
   */
  transitions(query: TransitionQuery = {}): Promise<Transition[]> {
    return readTransitions(this.driver, query);
  }

  /**
   * Counts the orders that ended before the ledger went live and of which
   * nothing was sent since, and the users known before.
   *
   * @returns How many; and how many of the orders a person may want to look at:
   * successes of the last fourteen days that match no purchase.
   */
  historic(): Promise<Historic> {
    return readHistoric(this.driver);
  }

  /** Counts events that are not folded yet. Cheap while they are few. */
  lag(): Promise<number> {
    return readLag(this.driver);
  }

  /** Counts what the ledger holds, and how far it is folded and chained. */
  async stats(): Promise<Stats> {
    const stats = await readStats(this.driver);
    const waiting = await readWaiting(this.driver, this.#parts.now());
    const { position, events, hash, broken } = await this.evidence();
    const chain = { count: events, hash, position, broken };
    return { ...stats, waiting, chain };
  }

  /**
   * Extends the evidence chain until it reaches the last event.
   * {@linkcode Ledger.project} does this too. This method does not fold.
   */
  chain(): Promise<ChainState> {
    return anchorHead(this.#parts);
  }

  /**
   * Reads how far the evidence chain reaches, and whether it continues from the
   * anchored head.
   */
  evidence(): Promise<ChainState> {
    return readHead(this.#parts);
  }

  /**
   * Computes the evidence chain again, and everything that bodies determine.
   */
  verify(options: VerifyOptions = {}): Promise<Verification> {
    return verifyEvidence(this.#parts, options);
  }

  /**
   * Compares every stored order and user with a fold from nothing, and the log of
   * transitions with what was told of them. The ledger is only read.
   *
   * @throws {LedgerError} `failed` where another version has folded the ledger.
   */
  verifyStates(options: VerifyStatesOptions = {}): Promise<StatesVerification> {
    return verifyStates(this.#parts, options);
  }

  /**
   * Writes the ledger as lines of JSON: a header, then every event by
   * position. Importing it into another ledger gives the same states, and
   * exporting that one the same lines.
   *
   * @returns Lines without line breaks.
   */
  export(): AsyncGenerator<string> {
    return exportEvents(this.driver, this.environment);
  }

  /**
   * Appends the events of an export; events that are stored already are skipped.
   * Subscriptions do not receive the transitions that these events cause.
   *
   * @throws {TypeError} When a line is not what an export writes, or is of
   * another environment; what came before it stays.
   */
  import(lines: AsyncIterable<string>): Promise<Import> {
    return importEvents(this.driver, this.environment, lines);
  }

  /**
   * Writes the whole ledger as lines of JSON, with all that it owes: what was told,
   * purchases, subscriptions and what they have still to be told. Stop `serve` first.
   */
  exportMoved(): AsyncGenerator<string> {
    return exportMoved(this.driver, this.environment);
  }

  /**
   * Takes in what {@linkcode Ledger.exportMoved} wrote, into an empty ledger.
   *
   * @returns How many events it holds.
   * @throws {TypeError} When a line is not what it writes, or the ledger is not empty.
   */
  async importMoved(lines: AsyncIterable<string>): Promise<number> {
    const events = await importMoved(this.driver, this.environment, lines);
    forgetHash(this.driver);
    return events;
  }

  /**
   * Checks that the ledger accepts writes, with a write that changes nothing.
   *
   * @throws {LedgerError} With the reason when it does not.
   */
  async probe(): Promise<void> {
    await write(this.driver, [statement("UPDATE ledger SET schema = schema")]);
  }

  /**
   * Copies the ledger, which may be in use, into a new file.
   *
   * @throws {TypeError} When the ledger is on a server or behind a client.
   * @throws {LedgerError} When the file exists or cannot be written.
   */
  async backup(path: string): Promise<void> {
    if (this.driver.copyTo === undefined) {
      throw new TypeError(
        "Cannot copy a ledger on a server or behind a client into a file: use " +
          "the server's own backup, or export the events",
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
    await this.#parts.anchor?.flush();
    await this.driver.close();
  }

  /** Same as {@linkcode Ledger.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One at a time in this process: two would make each other lose races. */
  #alone<Result>(fold: () => Promise<Result>): Promise<Result> {
    const folding = this.#projecting.then(fold);
    this.#projecting = folding.catch(() => {});
    return folding;
  }

  /** What each event has: when it was recorded, and what blinds its leaf. */
  #minted(now: number = this.#parts.now()) {
    const salt = this.#parts.randomBytes(16);
    return { recordedAt: new Date(now).toISOString(), salt };
  }

  /**
   * When an expectation is recorded. The latest terms of a reference count, so that
   * two in one millisecond get different times.
   */
  #expectationTime(): number {
    const now = this.#parts.now();
    const last = this.#lastExpectationMs;
    // A clock that was set back by more is believed.
    const isSoon = now <= last && now > last - SOON_MS;
    return this.#lastExpectationMs = isSoon ? last + 1 : now;
  }

  async #appendExpectation(event: NewEvent): Promise<void> {
    await refuseTerms(this.driver, event, this.#parts.assets);
    await this.append([event]);
  }
}

function listen(listeners: Set<() => void>, listener: () => void): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}
