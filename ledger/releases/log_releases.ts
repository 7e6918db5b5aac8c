import type { PurchaseName } from "../events/expectation.ts";
import type { NewTransition, PurchaseWait } from "../machines/transition.ts";
import {
  addRelease,
  type HandChange,
  nextRelease,
  NO_RELEASES,
  type OrderReleases,
  type ReleaseChange,
} from "./release_log.ts";

/** Which orders have taken a purchase. */
export interface Purchase {
  /** The order that took it by its own release; null where none did. */
  readonly own: string | null;
  /** Orders with which a person delivered it, in the order of the log. */
  readonly hands: readonly string[];
}

const UNTAKEN: Purchase = { own: null, hands: [] };

/** The order that holds a purchase: who delivered it last, else who took it. */
export function holderOf({ own, hands }: Purchase): string | null {
  return hands.at(-1) ?? own;
}

/** What is logged already. */
export interface KnownReleases {
  /** What was logged of orders; nothing of absent ones. */
  readonly orders: ReadonlyMap<string, OrderReleases>;
  /** Purchases that were taken, by digest. */
  readonly purchases: ReadonlyMap<string, Purchase>;
  /** The digest of a purchase. */
  readonly digestOf: (purchase: PurchaseName) => string;
  /**
   * Where a person did something, the orders that wait for the purchases which
   * that moves. @default {none}
   */
  readonly waiting?: readonly string[];
}

/** Nothing is logged, and nothing is taken. */
export const NOTHING_LOGGED: KnownReleases = {
  orders: new Map(),
  purchases: new Map(),
  digestOf: ({ kind, name }) => `${kind}\0${name}`,
};

/** What a batch of events adds to the log. */
export interface LoggedReleases {
  /** What is logged, in order. */
  readonly transitions: readonly NewTransition[];
  /** What has been logged of orders then. */
  readonly orders: ReadonlyMap<string, OrderReleases>;
  /** Purchases of which something changed, by digest. */
  readonly purchases: ReadonlyMap<string, Purchase>;
  /** Which purchase an order waits for; null where it waits no more. */
  readonly waits: ReadonlyMap<string, PurchaseWait | null>;
}

/**
 * Decides what is logged of a batch, in order. Pure.
 *
 * By itself an order takes one purchase in its life: the first that its row says
 * yes for. What a person delivers with an order is taken from its holder, who
 * waits; where that is taken back it returns to the holder before, else to the
 * order whose row has said yes for it longest. Nothing else frees a purchase.
 *
 * @param collected Statuses that were entered, and releases that changed or
 * were made by hand.
 * @param known What was logged before.
 */
export function logReleases(
  collected: readonly (NewTransition | ReleaseChange | HandChange)[],
  known: KnownReleases,
): LoggedReleases {
  const log = new ReleaseLog(known);
  for (const one of collected) {
    if ("now" in one) log.addChange(one);
    else if ("took" in one) log.addHand(one);
    else log.transitions.push(one);
  }
  return log;
}

class ReleaseLog implements LoggedReleases {
  readonly transitions: NewTransition[] = [];
  readonly orders = new Map<string, OrderReleases>();
  readonly purchases = new Map<string, Purchase>();
  readonly waits = new Map<string, PurchaseWait | null>();
  readonly #known: KnownReleases;

  constructor(known: KnownReleases) {
    this.#known = known;
  }

  addChange(change: ReleaseChange): void {
    const { orderId, position } = change;
    const { release, purchase, byHand } = change.now;
    if (release !== "yes" || purchase === null) {
      this.#setWait(orderId, null);
      return this.#log(change, false);
    }
    const digest = this.#known.digestOf(purchase);
    const { own } = this.#logOf(orderId);
    const holder = holderOf(this.#purchase(digest));
    const isFree = holder === null && own === null && byHand === null;
    if (isFree) this.#takeFor(orderId, digest);
    const holds = isFree ||
      (holder === orderId && (own === null || own === digest));
    if (holds && byHand === null) this.#setWait(orderId, null);
    else this.#wait(orderId, digest, position);
    this.#log(change, !holds);
  }

  /** Purchases move before what the order itself says is logged. */
  addHand({ orderId, gave, took, ...at }: HandChange): void {
    if (gave !== null) this.#giveBack(orderId, gave, at);
    if (took !== null) this.#deliver(orderId, took, at);
  }

  #deliver(orderId: string, purchase: PurchaseName, at: At): void {
    const digest = this.#known.digestOf(purchase);
    const before = this.#purchase(digest);
    const holder = holderOf(before);
    const hands = [...before.hands.filter((id) => id !== orderId), orderId];
    this.purchases.set(digest, { ...before, hands });
    if (holder === null || holder === orderId) return;
    if (this.#logOf(holder).last?.release !== "yes") return;
    this.#wait(holder, digest, at.position);
    this.#log(yesOf(holder, at), true);
  }

  #giveBack(orderId: string, purchase: PurchaseName, at: At): void {
    const digest = this.#known.digestOf(purchase);
    const before = this.#purchase(digest);
    const hands = before.hands.filter((id) => id !== orderId);
    const after = { ...before, hands };
    this.purchases.set(digest, after);
    const holder = holderOf(after);
    if (holder !== null) {
      if (holder !== holderOf(before)) this.#restore(holder, digest, at);
      return;
    }
    const next = this.#longestWaiting(digest, orderId);
    if (next === null) return;
    this.#takeFor(next, digest);
    if (next !== orderId) this.#restore(next, digest, at);
  }

  /** The yes of an order that waited for nothing but its purchase. */
  #restore(orderId: string, digest: string, at: At): void {
    if (this.#waitOf(orderId)?.digest !== digest) return;
    if (this.#logOf(orderId).last?.reason !== "paid_twice") return;
    this.#setWait(orderId, null);
    this.#log({ ...yesOf(orderId, at), byExpectation: true }, false);
  }

  #takeFor(orderId: string, digest: string): void {
    this.purchases.set(digest, { ...this.#purchase(digest), own: orderId });
    this.orders.set(orderId, { ...this.#logOf(orderId), own: digest });
  }

  #wait(orderId: string, digest: string, position: number): void {
    if (this.#waitOf(orderId)?.digest === digest) return;
    this.#setWait(orderId, { orderId, digest, position });
  }

  #waitOf(orderId: string): PurchaseWait | null {
    return this.#logOf(orderId).wait;
  }

  #setWait(orderId: string, wait: PurchaseWait | null): void {
    const before = this.#logOf(orderId);
    if (wait === null && before.wait === null) return;
    this.waits.set(orderId, wait);
    this.orders.set(orderId, { ...before, wait });
  }

  /** Of orders that have taken no purchase, and that no person has settled. */
  #longestWaiting(digest: string, takenBack: string): string | null {
    const ids = new Set([
      ...this.#known.waiting ?? [],
      ...this.waits.keys(),
    ]);
    const [first] = [...ids].flatMap((id) => this.#waitOf(id) ?? [])
      .filter((wait) => wait.digest === digest)
      .filter(({ orderId }) => {
        const { own, last } = this.#logOf(orderId);
        return own === null &&
          (orderId === takenBack || last?.release !== "settled");
      })
      .toSorted((a, b) =>
        a.position - b.position || (a.orderId < b.orderId ? -1 : 1)
      );
    return first?.orderId ?? null;
  }

  #log(change: ReleaseChange, isTaken: boolean): void {
    const before = this.#logOf(change.orderId);
    const entry = nextRelease(before, change, isTaken);
    if (entry === null) return;
    this.transitions.push(entry);
    this.orders.set(change.orderId, addRelease(before, entry));
  }

  #logOf(orderId: string): OrderReleases {
    return this.orders.get(orderId) ?? this.#known.orders.get(orderId) ??
      NO_RELEASES;
  }

  #purchase(digest: string): Purchase {
    return this.purchases.get(digest) ?? this.#known.purchases.get(digest) ??
      UNTAKEN;
  }
}

type At = Pick<HandChange, "position" | "recordedAt" | "live">;

/** The yes of an order by its row, at the position of what a person did. */
function yesOf(orderId: string, at: At): ReleaseChange {
  return {
    orderId,
    isFirst: false,
    // Only an order that the service shows as a success says yes.
    now: {
      release: "yes",
      reason: "session_matched",
      status: "success",
      trust: "confirmed",
      purchase: null,
      expectedAt: null,
      byHand: null,
    },
    ...at,
    historic: false,
    byExpectation: false,
  };
}
