import { monotonicFactory } from "ulid";
import { printable } from "../../core/printable.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { WitnessRule } from "../../core/chain/witness_rule.ts";
import type {
  AppendDelivery,
  UnansweredDelivery,
} from "../../core/wire/delivery.ts";
import type { ChainState } from "../evidence/chain_head.ts";
import { HeadAnchor } from "../evidence/head_anchor.ts";
import type { Verification, VerifyOptions } from "../evidence/verification.ts";
import type { StatesVerification } from "../evidence/verify_states.ts";
import { isExpectation } from "../events/fact.ts";
import type { NewEvent } from "../events/event.ts";
import {
  deliveryUnanswered,
  orderExpected,
  orderReleased,
  sessionCreated,
} from "../events/mint.ts";
import { readFact } from "../events/read_fact.ts";
import {
  expectationBody,
  type OrderExpectation,
} from "../expectations/order_expectation.ts";
import {
  sessionBody,
  type SessionToRecord,
} from "../expectations/session_record.ts";
import { changeOfRule, ruleFrom } from "../expectations/witness_requirement.ts";
import type { Explanation } from "../explain/explanation.ts";
import type { Occurrence, OccurrenceOptions } from "../explain/occurrences.ts";
import type { AnchorStore } from "../hashes/anchored_head.ts";
import type { CatchUpOptions, Projection, Stats } from "../ledger_parts.ts";
import type { Transition } from "../machines/transition.ts";
import type { AttentionKind } from "../outcomes/attention_kind.ts";
import { Months } from "../months/months.ts";
import type { Refold, RefoldOptions } from "../refold/refold.ts";
import type { Historic } from "../releases/historic.ts";
import {
  checkRelease,
  decideRelease,
  type RecordedRelease,
  type ReleaseByHand,
  ReleaseError,
} from "../releases/release_by_hand.ts";
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import type { Import } from "../transfer/import_events.ts";
import { anchorHead, readHead, verifyEvidence } from "./evidence/evidence.ts";
import {
  verifyStates,
  type VerifyStatesOptions,
} from "./projection/verify_states.ts";
import { catchUp, type MakeStep } from "./projection/catch_up.ts";
import {
  FOLD,
  type FoldCode,
  project,
  type RedactNew,
} from "./projection/project.ts";
import { refold } from "./projection/refold.ts";
import { type AttentionItem, listAttention } from "./reads/attention.ts";
import { readOccurrences } from "./reads/deliveries.ts";
import { readExplanation, readOrderAsOf } from "./reads/explain.ts";
import { findAnything, type FindResult } from "./reads/find.ts";
import { Orders } from "./reads/orders.ts";
import {
  isStored,
  readHandRelease,
  readKnownOfRelease,
  readOrderFold,
} from "./reads/releases.ts";
import { readHistoric, readLag, readStats } from "./reads/stats.ts";
import { readTransitions, type TransitionQuery } from "./reads/transitions.ts";
import { Users } from "./reads/users.ts";
import { monthStore } from "./months/month_store.ts";
import { readWaiting } from "./reads/waiting.ts";
import {
  readWitnessRules,
  refuseClickInUse,
  refuseTermsOfPaid,
} from "./recording/terms.ts";
import type { LedgerStamp } from "./store/create.ts";
import { statement, write } from "./store/database.ts";
import { EventLog, stampLive, timeOf } from "./store/events.ts";
import { exportEvents } from "./transfer/export.ts";
import { importEvents } from "./transfer/import.ts";
import { exportMoved, importMoved, type Moved } from "./transfer/move.ts";

/** What a {@linkcode Ledger} works with. */
export interface LedgerParts {
  /** A database that holds a ledger. */
  readonly driver: Driver;
  readonly stamp: LedgerStamp;
  readonly assets: AssetTable;
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly readOnly?: boolean;
  readonly anchorStore?: AnchorStore;
  /** The fold; replaced by tests. */
  readonly fold?: FoldCode;
  readonly redactNew?: RedactNew;
  /** Makes a step where the database is. @default {here} */
  readonly step?: MakeStep;
}

/** Expectations recorded within this time get times one after another. */
const SOON_MS = 1000;

/** The ledger: stores facts, never changes them, and derives the states of orders and users. */
export class Ledger implements AsyncDisposable {
  readonly driver: Driver;
  readonly environment: string;
  readonly id: string;
  readonly orders: Orders;
  readonly users: Users;
  readonly months: Months;
  readonly #parts: LedgerParts;
  readonly #fold: FoldCode;
  readonly #log: EventLog;
  readonly #anchor: HeadAnchor | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #requestListeners = new Set<() => void>();
  readonly #mintId = monotonicFactory(() =>
    (this.#parts.randomBytes(1)[0] ?? 0) / 256
  );
  #lastExpectationMs = -Infinity;
  #projecting: Promise<unknown> = Promise.resolve();

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#fold = parts.fold ?? FOLD;
    this.driver = parts.driver;
    this.environment = parts.stamp.environment;
    this.id = parts.stamp.ledgerId;
    this.#log = new EventLog(parts.driver, { randomBytes: parts.randomBytes });
    this.#anchor = parts.anchorStore && new HeadAnchor({
      store: parts.anchorStore,
      ledgerId: parts.stamp.ledgerId,
      now: parts.now,
      readOnly: parts.readOnly ?? false,
    });
    this.orders = new Orders(parts.driver, parts.assets);
    this.users = new Users(parts.driver);
    this.months = new Months({
      ...parts,
      store: monthStore(parts.driver, {
        readFact: this.#fold.readFact,
        folded: () => this.project(),
      }),
      foldVersion: this.#fold.version,
      append: (events) => this.append(events),
    });
  }

  // What is recorded.

  readonly appendDelivery: AppendDelivery = (delivery) =>
    this.#log.appendDelivery(delivery);

  append(events: readonly NewEvent[]): Promise<void> {
    return this.#log.append(events);
  }

  readonly recordUnanswered = (unanswered: UnansweredDelivery): Promise<void> =>
    this.append([deliveryUnanswered({ unanswered, ...this.#minted() })]);

  readonly recordSession = async (session: SessionToRecord): Promise<void> => {
    const now = this.#expectationTime();
    await this.#appendExpectation(sessionCreated({
      session: sessionBody(session, now),
      ...this.#minted(now),
    }));
  };

  readonly expect = async (
    expectation: OrderExpectation,
  ): Promise<{ readonly id: string }> => {
    const now = this.#expectationTime();
    const id = this.#mintId(now);
    await this.#appendExpectation(orderExpected({
      expected: expectationBody(expectation, { id, now }),
      ...this.#minted(now),
    }));
    return { id };
  };

  async requireWitness(rule: WitnessRule): Promise<boolean> {
    const rules = await readWitnessRules(this.driver, readFact);
    const { recordedAt: _, ...minted } = this.#minted();
    const now = this.#parts.now();
    const event = changeOfRule(rule, rules, { now, ...minted });
    if (event !== null) await this.append([event]);
    return event !== null;
  }

  async requiredWitness(): Promise<WitnessRule> {
    const at = new Date(this.#parts.now()).toISOString();
    return ruleFrom(await readWitnessRules(this.driver, readFact), at);
  }

  async release(
    orderId: string,
    release: ReleaseByHand,
  ): Promise<RecordedRelease> {
    checkRelease(release);
    await this.project();
    const fold = await readOrderFold(this.driver, orderId);
    const known = await readKnownOfRelease(
      this.driver,
      orderId,
      release.for ?? null,
    );
    const { assets } = this.#parts;
    const event = orderReleased({
      released: decideRelease(orderId, release, fold, { assets, ...known }),
      ...this.#minted(),
    });
    await this.append([event]);
    await this.project();
    const recorded = await this.handRelease(orderId);
    if (recorded !== null && await isStored(this.driver, event)) {
      return recorded;
    }
    throw new ReleaseError(
      "needs_confirmation",
      `Cannot record ${release.outcome} of ${
        printable(orderId)
      } unless it is ` +
        "confirmed: somebody else was first",
    );
  }

  handRelease(orderId: string): Promise<RecordedRelease | null> {
    return readHandRelease(this.driver, orderId);
  }

  async goLive(time?: string): Promise<string> {
    const wanted = time === undefined ? null : readTime(time);
    const at = wanted ?? this.#parts.now();
    const [, found] = await write(this.driver, [
      stampLive(at),
      statement("SELECT live_from FROM ledger"),
    ]);
    const stamped = timeOf(found?.[0]?.[0]) ?? "";
    if (wanted === null || wanted === Date.parse(stamped)) return stamped;
    throw new LedgerError(
      "failed",
      `The ledger has gone live at ${stamped}, and not at ` +
        `${new Date(wanted).toISOString()}: leave the time out, or begin a ` +
        "new ledger",
    );
  }

  // What follows from it.

  project(options: CatchUpOptions = {}): Promise<Projection> {
    // One at a time in this process: two would make each other lose races.
    const projection = this.#projecting.then(async () => {
      const done = await catchUp(
        { ...this.#projectParts(), step: this.#step },
        options,
        ({ transitions, requests }) => {
          if (transitions) { for (const one of this.#listeners) one(); }
          if (requests) { for (const one of this.#requestListeners) one(); }
        },
      );
      return { ...done, chain: await this.chain() };
    });
    this.#projecting = projection.catch(() => {});
    return projection;
  }

  refold(options: RefoldOptions = {}): Promise<Refold> {
    const refolded = this.#projecting.then(() =>
      refold(this.#projectParts(), options)
    );
    this.#projecting = refolded.catch(() => {});
    return refolded;
  }

  onProjected(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  onRequested(listener: () => void): Disposable {
    const listeners = this.#requestListeners;
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  }

  // What is known.

  explain(orderId: string, time?: string): Promise<Explanation | null> {
    return readExplanation(this.driver, orderId, {
      ...this.#readParts(),
      ...time !== undefined && { time },
    });
  }

  asOf(orderId: string, time: string): ReturnType<typeof readOrderAsOf> {
    const parts = { ...this.#readParts(), time };
    return readOrderAsOf(this.driver, orderId, parts);
  }

  find(text: string): Promise<FindResult> {
    return findAnything(this.driver, text, this.#parts.assets);
  }

  attention(only?: AttentionKind): AsyncGenerator<AttentionItem> {
    return listAttention(this.orders, this.#parts.now(), only);
  }

  occurrences(
    eventId: string,
    options: OccurrenceOptions = {},
  ): Promise<Occurrence[]> {
    return readOccurrences(this.driver, eventId, options);
  }

  transitions(query: TransitionQuery = {}): Promise<Transition[]> {
    return readTransitions(this.driver, query);
  }

  historic(): Promise<Historic> {
    return readHistoric(this.driver);
  }

  lag(): Promise<number> {
    return readLag(this.driver);
  }

  async stats(): Promise<Stats> {
    const stats = await readStats(this.driver);
    const waiting = await readWaiting(this.driver, this.#parts.now());
    const { position, events, hash, broken } = await this.evidence();
    const chain = { count: events, hash, position, broken };
    return { ...stats, waiting, chain };
  }

  // Whether it holds.

  chain(): Promise<ChainState> {
    return anchorHead(this.#evidenceParts());
  }

  evidence(): Promise<ChainState> {
    return readHead(this.#evidenceParts());
  }

  verify(options: VerifyOptions = {}): Promise<Verification> {
    return verifyEvidence(this.#evidenceParts(), options);
  }

  verifyStates(options: VerifyStatesOptions = {}): Promise<StatesVerification> {
    return verifyStates(this.#projectParts(), options);
  }

  // What goes out and comes in.

  export(): AsyncGenerator<string> {
    return exportEvents(this.driver, this.environment);
  }

  import(lines: AsyncIterable<string>): Promise<Import> {
    return importEvents(this.driver, this.environment, lines);
  }

  exportMoved(): AsyncGenerator<string> {
    return exportMoved(this.driver, this.environment);
  }

  importMoved(lines: AsyncIterable<string>): Promise<Moved> {
    return importMoved(this.driver, this.environment, lines);
  }

  async probe(): Promise<void> {
    await write(this.driver, [statement("UPDATE ledger SET schema = schema")]);
  }

  async backup(path: string): Promise<void> {
    if (this.driver.copyTo === undefined) {
      throw new TypeError(
        "Cannot copy a ledger on a server or behind a client into a file: use " +
          "the server's own backup, or export the events",
      );
    }
    await this.driver.copyTo(path);
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.#projecting;
    await this.#anchor?.flush();
    await this.driver.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #step: MakeStep = (mostEvents) =>
    this.#parts.step !== undefined && this.#fold === FOLD
      ? this.#parts.step(mostEvents)
      : project(this.driver, {
        ...this.#projectParts(),
        maxEvents: mostEvents,
      });

  #projectParts() {
    const { driver, assets, redactNew } = this.#parts;
    const fold = this.#fold;
    return { driver, assets, fold, ...redactNew && { redactNew } };
  }

  #readParts() {
    return { assets: this.#parts.assets, readFact: this.#fold.readFact };
  }

  #evidenceParts() {
    const { driver, stamp: { ledgerId } } = this.#parts;
    return { driver, ledgerId, anchor: this.#anchor };
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
    const fact = readFact({ ...event, position: 0 });
    if (isExpectation(fact)) {
      await refuseClickInUse(this.driver, fact.expectation, readFact);
      await refuseTermsOfPaid(
        this.driver,
        fact.expectation,
        this.#parts.assets,
      );
    }
    await this.append([event]);
  }
}

function readTime(time: string): number {
  const ms = Date.parse(time);
  const isTime = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(time);
  if (isTime && !Number.isNaN(ms)) return ms;
  throw new TypeError(
    `Wrong goLive: ${JSON.stringify(time)} is not a time such as ` +
      "2026-11-20T17:00:00Z",
  );
}
