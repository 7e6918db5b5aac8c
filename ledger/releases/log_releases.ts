import type { NewTransition, PurchaseWait } from "../machines/transition.ts";
import type { PurchaseName } from "../events/expectation.ts";
import type { OrderRelease } from "./order_release.ts";
import {
  addRelease,
  type HandChange,
  nextRelease,
  NO_RELEASES,
  type OrderReleases,
  type ReleaseChange,
} from "./release_log.ts";

/** What is logged already. */
export interface KnownReleases {
  /** What was logged of orders; nothing of absent ones. */
  readonly orders: ReadonlyMap<string, OrderReleases>;
  /** Orders that have taken a purchase, by its digest. */
  readonly purchases: ReadonlyMap<string, string>;
  /** The digest of a purchase. */
  readonly digestOf: (purchase: PurchaseName) => string;
  /** What is known where a person did something. @default {nothing is known} */
  readonly byHand?: KnownByHand;
}

/** What else has to be known where a person did something. */
export interface KnownByHand {
  /** Orders that wait for one of the purchases. */
  readonly waits: readonly PurchaseWait[];
  /** Orders of which a receiver has begun the `yes`. */
  readonly begun: ReadonlySet<string>;
  /** Orders that a person delivered or refunded before. */
  readonly released: ReadonlySet<string>;
}

/** Nothing is logged, and nothing is taken. */
export const NOTHING_LOGGED: KnownReleases = {
  orders: new Map(),
  purchases: new Map(),
  digestOf: ({ kind, name }) => `${kind}\0${name}`,
};

const NOTHING_BY_HAND: KnownByHand = {
  waits: [],
  begun: new Set(),
  released: new Set(),
};

/** What a batch of events adds to the log. */
export interface LoggedReleases {
  /** What is logged, in order. */
  readonly transitions: readonly NewTransition[];
  /** What has been logged of orders then. */
  readonly orders: ReadonlyMap<string, OrderReleases>;
  /** Purchases taken, and by which order. */
  readonly purchases: ReadonlyMap<string, string>;
  /** Digests of purchases that no order has any more. */
  readonly freed: ReadonlySet<string>;
  /** Which purchase an order waits for; null where it waits no more. */
  readonly waits: ReadonlyMap<string, PurchaseWait | null>;
  /** What persons did, the first time of each order. */
  readonly hands: readonly HandChange[];
  /** Orders of which all this holds only while no receiver begins the `yes`. */
  readonly notBegun: ReadonlySet<string>;
}

/**
 * Decides what is logged of a batch, in order. Pure.
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
    else if ("hand" in one) log.addHand(one);
    else log.transitions.push(one);
  }
  return log;
}

class ReleaseLog implements LoggedReleases {
  readonly transitions: NewTransition[] = [];
  readonly orders = new Map<string, OrderReleases>();
  readonly purchases = new Map<string, string>();
  readonly freed = new Set<string>();
  readonly waits = new Map<string, PurchaseWait | null>();
  readonly hands: HandChange[] = [];
  readonly notBegun = new Set<string>();
  readonly #known: KnownReleases;
  readonly #byHand: KnownByHand;
  readonly #released = new Set<string>();

  constructor(known: KnownReleases) {
    this.#known = known;
    this.#byHand = known.byHand ?? NOTHING_BY_HAND;
  }

  addChange(change: ReleaseChange): void {
    const { orderId, now, position } = change;
    const { release, reason, purchase, byHand } = now;
    const digest = release !== "yes" || purchase === null || byHand !== null
      ? null
      : this.#known.digestOf(purchase);
    const holder = digest === null ? undefined : this.#holderOf(digest);
    const isTaken = holder !== undefined && holder !== orderId;
    if (digest !== null && holder === undefined) this.#take(digest, orderId);
    const isWaiting = this.#logOf(orderId).last?.reason === "paid_twice";
    if (isTaken && digest !== null) {
      this.waits.set(orderId, { orderId, digest, reason, position });
    } else if (isWaiting) this.waits.set(orderId, null);
    this.#log(change, isTaken);
  }

  addHand(change: HandChange): void {
    const { orderId, hand, isFirst, purchase } = change;
    if (isFirst) {
      this.hands.push(change);
      this.#released.add(orderId);
      this.waits.set(orderId, null);
    }
    if (hand === "refunded") return this.#free(change);
    if (purchase === null) return;
    // It has delivered the purchase that it took before.
    if (!isFirst && this.#heldBy(orderId).length > 0) return;
    const digest = this.#known.digestOf(purchase);
    const holder = this.#holderOf(digest);
    if (holder === orderId) return;
    this.#take(digest, orderId);
    if (holder !== undefined) this.#displace(holder, digest, change);
  }

  /** The order that had a purchase waits; it takes back a yes that was begun. */
  #displace(orderId: string, digest: string, change: HandChange): void {
    const { last } = this.#logOf(orderId);
    if (last?.release !== "yes" || this.#isByHand(orderId)) return;
    const reason = last.reason;
    const { position } = change;
    this.waits.set(orderId, { orderId, digest, reason, position });
    this.#log(released(orderId, reason, change), true);
  }

  /** The purchases of a refunded order go to the orders that wait for them. */
  #free(change: HandChange): void {
    const { orderId } = change;
    const digests = this.#heldBy(orderId);
    if (digests.length === 0 || this.#byHand.begun.has(orderId)) return;
    this.notBegun.add(orderId);
    for (const digest of digests) {
      this.purchases.delete(digest);
      this.freed.add(digest);
      const next = this.#firstWaiting(digest);
      if (next === undefined) continue;
      this.#take(digest, next.orderId);
      this.waits.set(next.orderId, null);
      const late = released(next.orderId, next.reason, change);
      this.#log({ ...late, byExpectation: true }, false);
    }
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

  #isByHand(orderId: string): boolean {
    return this.#released.has(orderId) || this.#byHand.released.has(orderId);
  }

  #take(digest: string, orderId: string): void {
    this.purchases.set(digest, orderId);
    this.freed.delete(digest);
  }

  #holderOf(digest: string): string | undefined {
    if (this.freed.has(digest)) return undefined;
    return this.purchases.get(digest) ?? this.#known.purchases.get(digest);
  }

  #heldBy(orderId: string): string[] {
    const digests = new Set([
      ...this.#known.purchases.keys(),
      ...this.purchases.keys(),
    ]);
    return [...digests].filter((one) => this.#holderOf(one) === orderId)
      .toSorted();
  }

  #firstWaiting(digest: string): PurchaseWait | undefined {
    const all = new Map<string, PurchaseWait | null>(
      this.#byHand.waits.map((wait) => [wait.orderId, wait]),
    );
    for (const [orderId, wait] of this.waits) all.set(orderId, wait);
    return [...all.values()]
      .filter((wait): wait is PurchaseWait => wait?.digest === digest)
      .toSorted((a, b) =>
        a.position - b.position || (a.orderId < b.orderId ? -1 : 1)
      )[0];
  }
}

/** The release of an order, at the position of what a person did. */
function released(
  orderId: string,
  reason: string,
  { position, recordedAt, live }: HandChange,
): ReleaseChange {
  return {
    orderId,
    isFirst: false,
    // Only an order that the service shows as a success is released.
    now: {
      release: "yes",
      reason: reason as OrderRelease["reason"],
      status: "success",
      trust: "confirmed",
      purchase: null,
      expectedAt: null,
      byHand: null,
    },
    position,
    recordedAt,
    live,
    historic: false,
    byExpectation: false,
  };
}
