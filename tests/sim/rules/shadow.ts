import type { OrderState } from "../../../ledger/mod.ts";
import type {
  Fact,
  RecordedEvent,
  SessionFact,
} from "../../../ledger/internals.ts";
import { foldOrder, foldUser, orderState } from "../../../ledger/internals.ts";
import {
  linkKey,
  orderLinks,
  sessionLinks,
} from "../../../ledger/projection/links.ts";
import { orderRow, userRow } from "../../../ledger/projection/codec/rows.ts";
import type { Dice } from "../world/dice.ts";

/** What webhooks have no part in. */
export interface Undisputed {
  /** Whether the goods may be released. */
  readonly release: OrderState["release"];
  /** The session that is sure to be the order's; null when none is. */
  readonly session: string | null;
}

/** What a row of a read model should hold. */
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
  readonly #sessions = new Map<string, SessionFact[]>();
  readonly #linked = new Map<string, Set<string>>();
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
      if (fact.kind === "session_created") {
        for (const link of sessionLinks(fact)) {
          listOf(this.#sessions, linkKey(link)).push(fact);
          for (const id of this.#linked.get(linkKey(link)) ?? []) {
            orders.add(id);
          }
        }
      }
      if (orderId !== null) {
        listOf(this.#ordersFacts, orderId).push(fact);
        orders.add(orderId);
        for (const link of orderLinks(fact)) {
          const key = linkKey(link);
          const ids = this.#linked.get(key) ?? new Set();
          this.#linked.set(key, ids.add(orderId));
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
      ? this.#orderRow(id, this.#withSessions(left))
      : this.#userRow(id, left);
  }

  #order(id: string): ExpectedRow {
    return this.#orderRow(
      id,
      this.#withSessions(this.#ordersFacts.get(id) ?? []),
    );
  }

  /** What is left of an order when nobody but the service is listened to. */
  #withoutWebhooks(id: string): Undisputed {
    const read = (this.#ordersFacts.get(id) ?? []).filter((fact) =>
      !this.#said.has(fact)
    );
    return undisputedOf(
      orderState(foldOrder(id, this.#withSessions(read)), {
        assets: "sandbox",
      }),
    );
  }

  /** An order's own facts, and the sessions that they name. */
  #withSessions(own: readonly Fact[]): Fact[] {
    const facts = new Set<Fact>(own);
    for (const fact of own) {
      for (const link of orderLinks(fact)) {
        for (const session of this.#sessions.get(linkKey(link)) ?? []) {
          facts.add(session);
        }
      }
    }
    return [...facts];
  }

  #orderRow(id: string, facts: readonly Fact[]): ExpectedRow {
    const fold = foldOrder(id, this.#dice.shuffle(facts));
    return rowOf(orderRow(fold, { assets: "sandbox" }).texts);
  }

  #user(id: string): ExpectedRow {
    return this.#userRow(id, this.#usersFacts.get(id) ?? []);
  }

  #userRow(id: string, facts: readonly Fact[]): ExpectedRow {
    return rowOf(userRow(foldUser(id, this.#dice.shuffle(facts))).texts);
  }
}

/** What of a state no webhook may have a part in. */
export function undisputedOf(
  { release, asked, sessionTrust }: Pick<
    OrderState,
    "release" | "asked" | "sessionTrust"
  >,
): Undisputed {
  const session = sessionTrust === "confirmed" ? asked?.sessionId : null;
  return { release, session: session ?? null };
}

function rowOf(texts: readonly string[]): ExpectedRow {
  const [state = "", activity = "", fold = ""] = texts;
  return { state, activity, fold };
}

function listOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
