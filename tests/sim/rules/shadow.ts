import type { OrderState } from "../../../ledger/mod.ts";
import {
  type ExpectationFact,
  type Fact,
  foldOrder,
  foldUser,
  isExpectation,
  isWitnessRule,
  type OrderFold,
  packOrder,
  packUser,
  type RecordedEvent,
  type UserFold,
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
export interface ExpectedRow<Fold> {
  readonly state: string;
  readonly document: string;
  readonly fold: Fold;
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
  readonly #facts = new Map<string, Fact>();
  /** Events of which something was taken out. */
  readonly #erased = new Set<string>();
  /** Facts of events that anybody may have sent. */
  readonly #said = new Set<Fact>();
  readonly orders = new Map<string, ExpectedRow<OrderFold>>();
  /** What of each order would be the same had no webhook come. */
  readonly undisputed = new Map<string, Undisputed>();
  readonly users = new Map<string, ExpectedRow<UserFold>>();

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

  /** Goes on from what is left of an event that was folded. */
  replace(left: RecordedEvent): void {
    const { eventId } = left;
    const fact = this.#facts.get(eventId);
    if (fact === undefined || this.#erased.has(eventId)) return;
    this.#erased.add(eventId);
    const other = this.#readFact(left);
    if (this.#said.has(fact)) this.#said.add(other);
    for (const lists of [this.#ordersFacts, this.#usersFacts]) {
      for (const list of lists.values()) {
        const at = list.indexOf(fact);
        if (at !== -1) list[at] = other;
      }
    }
    const { orderId, userId } = fact;
    if (orderId !== null) {
      this.orders.set(orderId, this.#order(orderId));
      this.undisputed.set(orderId, this.#withoutWebhooks(orderId));
    }
    if (userId !== null) this.users.set(userId, this.#user(userId));
  }

  #order(id: string): ExpectedRow<OrderFold> {
    const own = this.#ordersFacts.get(id) ?? [];
    const fold = foldOrder(id, this.#dice.shuffle(this.#withExpected(own)));
    const state = JSON.stringify(orderState(fold, { assets: "sandbox" }));
    return { state, document: packOrder(fold), fold };
  }

  #user(id: string): ExpectedRow<UserFold> {
    const fold = foldUser(
      id,
      this.#dice.shuffle(this.#usersFacts.get(id) ?? []),
    );
    const state = JSON.stringify(userState(fold));
    return { state, document: packUser(fold), fold };
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
