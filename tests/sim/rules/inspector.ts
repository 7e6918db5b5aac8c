import { isLongText } from "../../../core/wire/objects.ts";
import type { OrderState } from "../../../ledger/mod.ts";
import { type Driver, isFinal } from "../../../ledger/for_sync.ts";
import type { RecordedEvent } from "../../../ledger/testing/mod.ts";
import { ChainWatch } from "./chain_watch.ts";
import { Entries } from "./entries.ts";
import { FreshnessWatch } from "./freshness_watch.ts";
import { HandWatch } from "./hand_watch.ts";
import { eventText } from "../world/event_text.ts";
import { isPast } from "./is_past.ts";
import { FOLD_VERSIONS, foldCode } from "../world/fold_versions.ts";
import { Broken, check, digestOf } from "../world/journal.ts";
import { notForForgers, sameStates } from "./same_states.ts";
import { ReleaseWatch } from "./release_watch.ts";
import { ShopWatch } from "../shop/shop_watch.ts";
import { Shadow } from "./shadow.ts";
import { readSnapshot, type Snapshot, UNSEEN } from "./snapshot.ts";
import type { World } from "../world/world.ts";

/** A confirmed end, and the events known by then. */
interface Ended {
  readonly status: string;
  readonly position: number;
}

const decoder = new TextDecoder();
/** What is told of an order that has ended. */
const ENDINGS = [
  ...["success", "failed", "cancelled"].map((status) => `confirmed.${status}`),
  ...["yes", "wait", "no", "unchecked"].map((entry) => `release.${entry}`),
];

/**
 * Looks at the ledger from outside, after every step, and holds it against
 * what the world saw, what the service did, and what the pure fold says.
 */
export class Inspector {
  readonly #world: World;
  readonly #store: Driver;
  /** What the read models should be, by version of the fold. */
  readonly #shadows: ReadonlyMap<number, Shadow>;
  readonly #chain = new ChainWatch();
  readonly #entries = new Entries();
  readonly #releases = new ReleaseWatch();
  readonly #shop: ShopWatch;
  readonly #byHand = new HandWatch();
  readonly #freshness: FreshnessWatch;
  readonly #events: RecordedEvent[] = [];
  /** Ids of webhooks by digest of the body. */
  readonly #webhooks = new Map<string, Set<string>>();
  readonly #ended = new Map<string, Ended>();
  readonly #keys = new Set<string>();
  readonly #confirmedBy = { order: new Set<string>(), user: new Set<string>() };
  #folded = 0;
  #position = 0;
  #seq = 0;

  constructor(world: World) {
    this.#world = world;
    this.#store = world.store;
    this.#freshness = new FreshnessWatch(world);
    this.#shop = new ShopWatch(world);
    const versions = world.plan.upgrades
      ? FOLD_VERSIONS
      : FOLD_VERSIONS.slice(1);
    // A rule broken in the fold is to be caught by what it leads to.
    this.#shadows = new Map(versions.map((version) => [
      version,
      new Shadow(
        world.dice.fork("shadow"),
        foldCode(world.ports.fold, version).readFact,
      ),
    ]));
  }

  /** Events recorded so far. */
  get events(): number {
    return this.#events.length;
  }

  /** Hash of the evidence chain as far as it was looked at. */
  hash(): string {
    return this.#chain.hash;
  }

  /**
   * Looks once.
   *
   * @throws {Broken} When a rule is broken.
   */
  async look(): Promise<void> {
    const snapshot = await readSnapshot(this.#store, {
      events: this.#events.at(-1)?.position ?? 0,
      seals: this.#chain.position,
      transitions: this.#seq,
      erased: this.#world.journal.erased.keys(),
    });
    this.#noSurprise();
    if (snapshot === null) return;
    this.#seq = snapshot.transitions.at(-1)?.seq ?? this.#seq;
    this.#ingest(snapshot);
    this.#keptPromises();
    this.#answeredWell();
    this.#folds(snapshot);
    this.#onlyConfirmedByReading(snapshot);
    this.#endsStay(snapshot);
    this.#chain.take(snapshot, this.#events);
    this.#keysOnce(snapshot);
    this.#entries.compare(snapshot.transitions);
    this.#releases.compare(
      snapshot.transitions,
      snapshot.orders,
      this.#byHand,
    );
    this.#toldWell();
    this.#pastIsPast();
    this.#keptByHand(snapshot);
    this.#shop.look(snapshot, this.#byHand);
    await this.#freshness.look();
  }

  /**
   * Waits until polling should have renewed every answer, and looks.
   *
   * @throws {Broken} When an answer was not renewed.
   */
  async lookInPeace(): Promise<void> {
    await this.#freshness.lookInPeace();
    await this.look();
  }

  /**
   * Reads every event once more.
   *
   * @throws {Broken} When one is not as it was when it was first seen.
   */
  async lookBack(): Promise<void> {
    const snapshot = await readSnapshot(this.#store, UNSEEN);
    for (const [at, event] of (snapshot?.events ?? []).entries()) {
      const [before, now] = [this.#events[at], this.#world.whole(event)];
      check(
        "events stay as they are",
        before?.position === now.position &&
          eventText(before) === eventText(now),
        () => `the event at ${now.position} is now ${eventText(now)}`,
      );
    }
  }

  /** Errors that no fault explains. */
  #noSurprise(): void {
    const { broken, unexpected } = this.#world.journal;
    if (broken[0] !== undefined) throw broken[0];
    const [error] = unexpected;
    if (error === undefined) return;
    throw new Broken(
      "nothing fails without a cause",
      error instanceof Error ? error.stack ?? error.message : String(error),
    );
  }

  #ingest({ events, count }: Snapshot): void {
    for (const seen of events) {
      const event = this.#world.whole(seen);
      this.#events.push(event);
      this.#byHand.take(event);
      if (event.kind === "webhook") this.#webhook(event);
      else if (event.kind === "order_snapshot") this.#snapshot(event);
      else if (event.kind === "order_absent") this.#absence(event);
      else if (event.kind === "user_snapshot") {
        this.#confirmedBy.user.add(event.userId ?? "");
      }
    }
    check(
      "events stay",
      count === this.#events.length,
      () => `${this.#events.length} were seen, and ${count} are there`,
    );
  }

  #webhook(event: RecordedEvent): void {
    const { body, eventId, orderId, userId, clickId } = event;
    check(
      "what is longer than an identifier may be is none",
      [orderId, userId, clickId].every((id) => !isLongText(id)),
      () => `the event at ${event.position} has more characters`,
    );
    const true_ = digestOf(body ?? new Uint8Array());
    check(
      "bodies are kept as received",
      this.#world.journal.reached.has(true_),
      () => `the body at ${event.position} was never delivered: ${text(body)}`,
    );
    const ids = this.#webhooks.get(true_) ?? new Set();
    this.#webhooks.set(true_, ids.add(eventId));
    const reached = this.#world.journal.reached.get(true_) ?? 0;
    check(
      "a delivery is stored once",
      ids.size <= reached,
      () =>
        `the body at ${event.position} is stored ${ids.size} times and was ` +
        `delivered ${reached} times: ${text(body)}`,
    );
  }

  /** The service has shown that status at some time. */
  #snapshot({ body, orderId, position }: RecordedEvent): void {
    this.#confirmedBy.order.add(orderId ?? "");
    const { status } = JSON.parse(text(body)) as { status: unknown };
    // An odd row states no status: nobody can say that it was another.
    if (typeof status !== "string") return;
    check(
      "readings are what the service said",
      this.#statuses(orderId).has(status.toLowerCase()),
      () => `order ${orderId} never was ${status} (position ${position})`,
    );
  }

  #absence({ orderId, position }: RecordedEvent): void {
    check(
      "absent is what the service does not have",
      this.#world.sandbox.order(orderId ?? "") === null,
      () => `order ${orderId} is there, and absent at ${position}`,
    );
  }

  #statuses(orderId: string | null): Set<string> {
    const { sandbox, journal } = this.#world;
    const order = sandbox.order(orderId ?? "") ??
      journal.removed.get(orderId ?? "");
    return new Set(
      order === undefined ? [] : [
        "created",
        order.status.toLowerCase(),
        ...order.history.map(({ status }) => status.toLowerCase()),
      ],
    );
  }

  #keptPromises(): void {
    const { journal, disk } = this.#world;
    const spooled = new Map<string, Set<string>>();
    for (const { id, body } of disk.deliveries()) {
      const digest = digestOf(body);
      spooled.set(digest, (spooled.get(digest) ?? new Set()).add(id));
    }
    for (const [digest, promised] of journal.promised) {
      const kept = new Set(this.#webhooks.get(digest));
      for (const id of spooled.get(digest) ?? []) kept.add(id);
      check(
        "each 2xx is stored",
        kept.size >= promised,
        () =>
          `a body was answered 2xx ${promised} times and is stored ` +
          `${kept.size} times`,
      );
    }
  }

  /** Whatever a body says, a 5xx comes from a store that fails. */
  #answeredWell(): void {
    const { journal } = this.#world;
    for (const bad of journal.badAnswers) {
      const { status, askedMs, answeredMs, lastFaultMs } = bad;
      check(
        "no answer but 2xx without a fault of the store",
        status === 503 && lastFaultMs >= askedMs - 10_000 &&
          answeredMs - askedMs <= 5000,
        () =>
          `${status} after ${answeredMs - askedMs} ms; the last fault was ` +
          `${askedMs - lastFaultMs} ms before`,
      );
    }
    journal.badAnswers = [];
  }

  #folds(snapshot: Snapshot): void {
    const { position, foldVersion, orders, users } = snapshot;
    check(
      "what is longer than an identifier may be is none",
      [...orders, ...users].every(({ id }) => !isLongText(id)),
      () => "a row has an id of more characters",
    );
    check(
      "checkpoints only move on",
      position >= this.#position,
      () => `from ${this.#position} to ${position}`,
    );
    const next = this.#events.findIndex((event) => event.position > position);
    const end = next === -1 ? this.#events.length : next;
    const { erased } = this.#world.journal;
    const passed = this.#events.slice(this.#folded, end);
    this.#entries.advance(passed, (id) => erased.has(id));
    for (const shadow of this.#shadows.values()) {
      shadow.advance(passed);
      for (const left of this.#erased(snapshot)) shadow.replace(left);
    }
    this.#folded = Math.max(this.#folded, end);
    this.#position = position;
    const shadow = this.#shadows.get(foldVersion);
    check(
      "states are folded by a known version",
      shadow !== undefined || position === 0,
      () => `they are folded by version ${foldVersion}`,
    );
    if (shadow === undefined) return;
    sameStates(snapshot, shadow);
    notForForgers(orders, shadow);
  }

  /** Events of which something was taken out, as they stand. */
  #erased({ erased }: Snapshot): readonly RecordedEvent[] {
    return erased.filter((left) =>
      eventText(left) !== eventText(this.#world.whole(left))
    );
  }

  #onlyConfirmedByReading({ orders, users, transitions }: Snapshot): void {
    for (const { id, trust, status } of orders) {
      if (trust !== "confirmed") continue;
      this.#confirmed(id, status, "its state");
    }
    for (const { entity, id, trust, status } of transitions) {
      if (entity !== "order" || trust !== "confirmed") continue;
      this.#confirmed(id, status, "a transition");
    }
    for (const { id, trust } of users) {
      check(
        "nothing is confirmed without the Data API",
        trust !== "confirmed" || this.#confirmedBy.user.has(id),
        () => `user ${id} was never read`,
      );
    }
  }

  #confirmed(id: string, status: string, where: string): void {
    check(
      "nothing is confirmed without the Data API",
      this.#confirmedBy.order.has(id) &&
        this.#statuses(id).has(status.toLowerCase()),
      () => `order ${id} is confirmed ${status} by ${where}`,
    );
  }

  #endsStay({ orders, position }: Snapshot): void {
    for (const { id, trust, status, state } of orders) {
      const before = this.#ended.get(id);
      if (before !== undefined && before.status !== status) {
        const later = this.#events.some((event) =>
          event.kind === "order_snapshot" && event.orderId === id &&
          event.position > before.position && event.position <= position
        );
        check(
          "a confirmed end changes by a later reading only",
          later,
          () => `order ${id} went from ${before.status} to ${trust} ${status}`,
        );
      }
      const { status: stated } = JSON.parse(state) as OrderState;
      if (trust === "confirmed" && isFinal(stated)) {
        if (before?.status !== status) {
          this.#ended.set(id, { status, position });
        }
      } else {
        this.#ended.delete(id);
      }
    }
  }

  #keysOnce({ transitions }: Snapshot): void {
    for (const { key, seq } of transitions) {
      check(
        "a transition is logged once",
        !this.#keys.has(key),
        () => `${key} comes again at ${seq}`,
      );
      this.#keys.add(key);
    }
  }

  /** What a clerk was told to be recorded is, and counts. */
  #keptByHand({ byHand }: Snapshot): void {
    for (const [id, { outcome, reference }] of this.#world.shop.byHand) {
      const all = this.#byHand.all(id);
      check(
        "what a person did is kept",
        byHand.has(id) &&
          all.some((one) =>
            one.outcome === outcome &&
            (reference === null || one.reference === reference)
          ),
        () => `order ${id} was ${outcome}, and is not recorded as that`,
      );
    }
  }

  /** What had ended before the ledger went live is told to nobody. */
  #pastIsPast(): void {
    const { journal, sandbox, plan } = this.#world;
    const { lasting, passing } = plan.attack;
    const isOdd = [lasting, passing].some(({ oddRow = 0, timeAhead = 0 }) =>
      oddRow + timeAhead > 0
    );
    // A row that cannot be read does not show that its order had ended.
    if (isOdd) return;
    for (const order of sandbox.orders()) {
      if (!isPast(this.#world, order)) continue;
      const { orderId } = order;
      const { told } = journal;
      // What a person does of one is news, and what its release then says.
      const isTold = ENDINGS.find((what) =>
        told.has(`order:${orderId}:${what}`) &&
        !(what.startsWith("release.") && this.#byHand.all(orderId).length > 0)
      );
      check(
        "nothing is told of what had ended before the ledger went live",
        isTold === undefined,
        () => `${isTold} of order ${orderId} is told`,
      );
    }
  }

  /** Repeated only where a fault may have lost the record of the first time. */
  #toldWell(): void {
    const { told, toldAgain } = this.#world.journal;
    for (const key of told.keys()) {
      check("only what was logged is told", this.#keys.has(key), () => key);
    }
    check(
      "nobody is told twice without a fault",
      toldAgain.length === 0,
      () => `${toldAgain.length} were told again: ${toldAgain[0]}`,
    );
  }
}

function text(body: Uint8Array | null): string {
  return decoder.decode(body ?? new Uint8Array());
}
