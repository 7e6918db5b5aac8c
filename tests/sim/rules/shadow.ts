import type { OrderState } from "../../../ledger/mod.ts";
import {
  encodeOrderFold,
  encodeUserFold,
  type ExpectationFact,
  type Fact,
  foldOrder,
  foldUser,
  isExpectation,
  isWitnessRule,
  orderRow,
  type RecordedEvent,
  userRow,
  userState,
} from "../../../ledger/testing/mod.ts";
import { orderState } from "../../../ledger/for_sync.ts";
import type { Dice } from "../world/dice.ts";

/** What webhooks have no part in. */
export interface Undisputed {
  /** Whether the goods may be released. */
  readonly release: OrderState["release"];
  /** The session that the order is compared with; null without. */
  readonly session: string | null;
  /** What a month books. */
  readonly booked: OrderState["booked"];
  /** Why it is released or not; null of an order that was not shown. */
  readonly reason: OrderState["releaseReason"] | null;
  /** Why a person has to look; null of an order that was not shown. */
  readonly attention: string | null;
}

/** What a row of a read model should hold, each text whole. */
export interface ExpectedRow {
  readonly state: string;
  readonly activity: string;
  readonly fold: string;
}

/**
 * What the read models should be: worked out from the events alone, by the
 * pure fold, from nothing and in an order that the dice decide.
 */
export class Shadow {
  readonly #dice: Dice;
  readonly #readFact: (event: RecordedEvent) => Fact;
  readonly #ordersFacts = new Map<string, Fact[]>();
  readonly #usersFacts = new Map<string, Fact[]>();
  readonly #expectedOfClick = new Map<string, Set<ExpectationFact>>();
  readonly #expectedOfReference = new Map<string, Set<ExpectationFact>>();
  /** Whether orders wait for the chain. */
  readonly #rules = new Set<Fact>();
  /** Orders by the click ids that readings have shown. */
  readonly #ordersOfClick = new Map<string, Set<string>>();
  readonly #events = new Map<string, RecordedEvent>();
  readonly #facts = new Map<string, Fact>();
  /** What is left of facts whose body was erased. */
  readonly #erased = new Map<Fact, Fact>();
  /** Facts of events that anybody may have sent. */
  readonly #said = new Set<Fact>();
  readonly orders = new Map<string, ExpectedRow>();
  /** What of each order would be the same had no webhook come. */
  readonly undisputed = new Map<string, Undisputed>();
  readonly users = new Map<string, ExpectedRow>();

  constructor(dice: Dice, readFact: (event: RecordedEvent) => Fact) {
    this.#dice = dice;
    this.#readFact = readFact;
  }

  /** Takes the events that the checkpoint has passed since the last look. */
  advance(events: readonly RecordedEvent[]): void {
    const orders = new Set<string>();
    const users = new Set<string>();
    for (const event of events) {
      const fact = this.#readFact(event);
      this.#facts.set(event.eventId, fact);
      if (event.kind === "webhook") this.#said.add(fact);
      this.#events.set(event.eventId, event);
      const { orderId, userId } = fact;
      if (isExpectation(fact)) {
        for (const id of this.#expect(fact)) orders.add(id);
      }
      if (isWitnessRule(fact)) {
        this.#rules.add(fact);
        for (const id of this.#ordersFacts.keys()) orders.add(id);
      }
      if (orderId !== null) {
        listOf(this.#ordersFacts, orderId).push(fact);
        orders.add(orderId);
        if (fact.clickId !== null) {
          setOf(this.#ordersOfClick, fact.clickId).add(orderId);
        }
      }
      if (userId !== null) {
        listOf(this.#usersFacts, userId).push(fact);
        users.add(userId);
      }
    }
    for (const id of orders) {
      this.orders.set(id, this.#order(id));
      this.undisputed.set(id, this.#withoutWebhooks(id));
    }
    for (const id of users) this.users.set(id, this.#user(id));
  }

  /** Takes in an expectation; the orders that it may concern. */
  #expect(fact: ExpectationFact): Set<string> {
    const { clickId, reference } = fact.expectation;
    const clicks = new Set<string>();
    if (clickId !== null) {
      setOf(this.#expectedOfClick, clickId).add(fact);
      clicks.add(clickId);
    }
    if (reference !== null) {
      const alike = setOf(this.#expectedOfReference, reference).add(fact);
      for (const { clickId } of alike) {
        if (clickId !== null) clicks.add(clickId);
      }
    }
    return new Set(
      [...clicks].flatMap((click) => [...setOf(this.#ordersOfClick, click)]),
    );
  }

  /** Takes note that the body of an event may be gone. */
  erase(eventId: string): void {
    const [event, fact] = [this.#events.get(eventId), this.#facts.get(eventId)];
    if (event === undefined || fact === undefined) return;
    if (this.#erased.has(fact)) return;
    const left = { ...event, body: null, digest: null, salt: null };
    this.#erased.set(fact, this.#readFact(left));
  }

  /**
   * What a row is when it was folded after the erasure; null when nothing of
   * it was erased. States folded before keep what they took from the body.
   */
  afterErasure(entity: "order" | "user", id: string): ExpectedRow | null {
    if (this.#erased.size === 0) return null;
    const own = entity === "order" ? this.#ordersFacts : this.#usersFacts;
    const facts = own.get(id) ?? [];
    const left = facts.map((fact) => this.#erased.get(fact) ?? fact);
    if (left.every((fact, at) => fact === facts[at])) return null;
    return entity === "order"
      ? this.#orderRow(id, this.#withExpected(left))
      : this.#userRow(id, left);
  }

  #order(id: string): ExpectedRow {
    return this.#orderRow(
      id,
      this.#withExpected(this.#ordersFacts.get(id) ?? []),
    );
  }

  /** What is left of an order when nobody but the service is listened to. */
  #withoutWebhooks(id: string): Undisputed {
    const read = (this.#ordersFacts.get(id) ?? []).filter((fact) =>
      !this.#said.has(fact)
    );
    return undisputedOf(
      orderState(foldOrder(id, this.#withExpected(read)), {
        assets: "sandbox",
      }),
    );
  }

  /** An order's own facts, and those that concern it and name no order. */
  #withExpected(own: readonly Fact[]): Fact[] {
    const facts = new Set<Fact>([...own, ...this.#rules]);
    for (const { clickId } of own) {
      for (const one of this.#expectedOfClick.get(clickId ?? "") ?? []) {
        facts.add(one);
        const { reference } = one.expectation;
        for (
          const other of this.#expectedOfReference.get(reference ?? "") ?? []
        ) {
          facts.add(other);
        }
      }
    }
    return [...facts];
  }

  #orderRow(id: string, facts: readonly Fact[]): ExpectedRow {
    const fold = foldOrder(id, this.#dice.shuffle(facts));
    const how = { assets: "sandbox" } as const;
    const [, activity = ""] = orderRow(fold, { ...how, place: 0 }).texts;
    const state = JSON.stringify(orderState(fold, how));
    return { state, activity, fold: encodeOrderFold(fold) };
  }

  #user(id: string): ExpectedRow {
    return this.#userRow(id, this.#usersFacts.get(id) ?? []);
  }

  #userRow(id: string, facts: readonly Fact[]): ExpectedRow {
    const fold = foldUser(id, this.#dice.shuffle(facts));
    const [, activity = ""] = userRow(fold, 0).texts;
    const state = JSON.stringify(userState(fold));
    return { state, activity, fold: encodeUserFold(fold) };
  }
}

/** What of a state no webhook may have a part in. */
export function undisputedOf(
  { release, releaseReason, booked, attention, expected, facts }: OrderState,
): Undisputed {
  const isShown = facts.shown !== "none" && facts.shown !== "denied";
  return {
    release,
    session: expected?.sessionId ?? null,
    booked,
    reason: isShown ? releaseReason : null,
    attention: isShown ? attention.join(" ") : null,
  };
}

function setOf<T>(sets: Map<string, Set<T>>, key: string): Set<T> {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  return set;
}

function listOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
